import AppleClientSecret

/// Why a script is not followed.
enum ShellError: Error {
    /// The shell stops there.
    case syntax
    /// The shell may read it, but it cannot be told how.
    case unclear
}

/// The grammar of a script for bash or dash. A script that it cannot follow is an error, of the two kinds of ``ShellError``.
///
/// - For dash, a backtick or a dollar sign in the word that ends a here-document is itself; for bash, a backslash hides a
///   quote in `$'…'`.
/// - A byte-order mark is a part of the first word.
struct ShellParser {
    /// A here-document whose lines are still to come.
    struct PendingDocument {
        let start: Int
        let delimiter: [UInt8]
        let stripsTabs: Bool
    }

    /// The end of commands within others.
    enum End: Equatable {
        case words(Set<String>)
        case parenthesis
        /// `;;` and its like, or `esac`.
        case branch
    }

    let bytes: [UInt8]
    let isDash: Bool
    var index = 0
    var depth = 0
    var pending: [PendingDocument] = []
    /// Here-documents, from the `<<` to the end of the last line.
    var documents: [Range<Int>] = []
    /// Text that may become a command when it is expanded: values, here-documents, and the words of a loop.
    var data: [Range<Int>] = []

    /// Nested more deeply, a file is refused. No program writes such a file.
    static let depthLimit = 50
    private static let keywords: Set<String> = [
        "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac",
    ]
    private static let keywordsOfBash: Set<String> = ["time", "function", "select", "[[", "coproc"]

    init(_ bytes: [UInt8], isDash: Bool) {
        self.bytes = bytes
        self.isDash = isDash
    }

    /// Whether an operator continues in the next line, behind a backslash, which is not followed.
    var hasDividedOperators: Bool {
        bytes.indices.dropFirst().dropLast(2).contains { index in
            bytes[index] == .backslash && bytes[index + 1] == .lineFeed && "$&|<>(;{".utf8.contains(bytes[index - 1])
                && "$&|<>({;-'\"[\\".utf8.contains(bytes[index + 2])
        }
    }

    // MARK: Lists

    /// The next commands of the file up to `;`, `&` or the end of a line; nil at the end of the file.
    mutating func next() throws(ShellError) -> ScriptList? {
        skipLines()
        guard index < bytes.count else { return nil }
        var list = try list()
        try separate(&list, .words([]))
        return list
    }

    /// Reads commands up to their end, and not the end itself.
    mutating func lists(to end: End, mayBeEmpty: Bool = false) throws(ShellError) -> [ScriptList] {
        var lists: [ScriptList] = []
        while true {
            skipLines()
            if isAt(end) { break }
            var list = try list()
            try separate(&list, end)
            lists.append(list)
        }
        guard mayBeEmpty || !lists.isEmpty else { throw .syntax }
        return lists
    }

    private func isAt(_ end: End) -> Bool {
        switch end {
        case .words(let words): keyword.map { words.contains($0.text) } == true
        case .parenthesis: peek() == .closingParenthesis
        case .branch: branchEnd != nil || keyword?.text == "esac"
        }
    }

    /// How long the text is here that ends a branch of `case`; nil if there is none.
    var branchEnd: Int? {
        guard peek() == .semicolon else { return nil }
        let length = peek(1) == .semicolon ? 2 : 1
        let fallsThrough = !isDash && peek(length) == .ampersand
        return fallsThrough ? length + 1 : length == 2 ? 2 : nil
    }

    /// Advances over the separators between two lists of commands.
    private mutating func separate(_ list: inout ScriptList, _ end: End) throws(ShellError) {
        skipBlanks()
        guard let byte = peek(), byte != .lineFeed, byte != .hash, !isAt(end) else { return }
        guard byte == .semicolon && branchEnd == nil || byte == .ampersand else { throw .syntax }
        list.isBackground = byte == .ampersand
        index += 1
    }

    private mutating func list() throws(ShellError) -> ScriptList {
        let start = index
        var pipelines = [try pipeline()]
        var lineEnds: [Range<Int>] = []
        while true {
            skipBlanks()
            let operation = index
            guard let byte = peek(), byte == .ampersand || byte == .bar, peek(1) == byte else { break }
            index += 2
            skipLines()
            if bytes[operation..<index].contains(.lineFeed) { lineEnds.append(operation..<index) }
            pipelines.append(try pipeline())
        }
        return ScriptList(pipelines: pipelines, lineEnds: lineEnds, range: start..<index)
    }

    private mutating func pipeline() throws(ShellError) -> [ScriptCommand] {
        skipBlanks()
        while let (text, end) = keyword, text == "!" || text == "time" {
            index = end
            skipBlanks()
            while text == "time", peek() == UInt8(ascii: "-") {
                _ = try word()
                skipBlanks()
            }
            // bash treats nothing as a command there.
            if !isDash, peek().map({ $0 == .lineFeed || $0 == .semicolon }) ?? true { return [] }
        }
        var commands = [try command()]
        while true {
            skipBlanks()
            guard peek() == .bar, peek(1) != .bar else { return commands }
            index += 1
            if !isDash, peek() == .ampersand { index += 1 }
            skipLines()
            commands.append(try command())
        }
    }

    /// The reserved word here, and its end; nil if there is none.
    var keyword: (text: String, end: Int)? {
        var text: [UInt8] = []
        var end = index
        while end < bytes.count, text.count < 9 {
            let byte = bytes[end]
            if byte == .backslash, end + 1 < bytes.count, bytes[end + 1] == .lineFeed {
                end += 2
            } else if byte.isASCIILetter || "!{}[".utf8.contains(byte) {
                text.append(byte)
                end += 1
            } else {
                guard
                    [.space, .tab, .lineFeed, .semicolon, .ampersand, .bar].contains(byte) || "()<>".utf8.contains(byte)
                else { return nil }
                break
            }
        }
        let string = String(decoding: text, as: UTF8.self)
        return Self.keywords.contains(string) || !isDash && Self.keywordsOfBash.contains(string) ? (string, end) : nil
    }

    // MARK: Simple commands

    /// Reads assignments and words, or the definition of a function.
    mutating func simple() throws(ShellError) -> ScriptCommand {
        var command = ScriptCommand(kind: .subshell, range: index..<index)
        var assignments: [ScriptWord] = []
        var words: [ScriptWord] = []
        while true {
            skipBlanks()
            // Between double brackets, operators have other meanings.
            let isTest = words.first?.text.elementsEqual("[[".utf8) == true && !isDash && words.last?.string != "]]"
            if !isTest, try redirection(of: &command) { continue }
            guard let byte = peek(), isTest || byte != .hash else { break }
            if byte == .openingParenthesis, !isTest, let name = words.first, words.count == 1, assignments.isEmpty,
                command.redirections.isEmpty, name.isPlain, !isDash || name.isName
            {
                index += 1
                skipBlanks()
                guard peek() == .closingParenthesis else { throw .syntax }
                index += 1
                return try function(name.string, from: command.range.lowerBound)
            }
            var word = try word()
            guard !word.range.isEmpty else {
                if isTest, byte != .semicolon {
                    index += 1
                    continue
                }
                if isTest || byte == .openingParenthesis { throw .syntax }
                break
            }
            let name = words.first
            let mayAssign = name.map { ShellBuiltin.takesArrays($0.text) } ?? true
            let assignment = mayAssign ? word.assignment(isDash: isDash, isArgument: name != nil) : nil
            if let assignment, assignment.isEmpty, !isDash, peek() == .openingParenthesis {
                try array(&word)
            }
            if let assignment {
                data.append((word.range.lowerBound + assignment.name.count)..<word.range.upperBound)
            }
            if name == nil, assignment != nil { assignments.append(word) } else { words.append(word) }
            command.range = command.range.lowerBound..<index
        }
        guard !command.range.isEmpty else { throw .syntax }
        command.kind = .simple(assignments, words)
        return command
    }

    /// The values of a bash array, over several lines too.
    private mutating func array(_ array: inout ScriptWord) throws(ShellError) {
        index += 1
        array.isArray = true
        while true {
            skipLines()
            if peek() == .closingParenthesis { break }
            let word = try someWord()
            data.append(word.range)
            array.defaults += word.defaults
            array.isArithmetic = array.isArithmetic || word.isArithmetic
            array.isSubstituted = array.isSubstituted || word.isSubstituted
        }
        index += 1
        array.range = array.range.lowerBound..<index
    }

    /// Advances over a redirection; false if there is none.
    mutating func redirection(of command: inout ScriptCommand) throws(ShellError) -> Bool {
        let start = index
        if peek()?.isASCIIDigit == true {
            let word = try word()
            guard peek() == .lessThan || peek() == .greaterThan, word.isNumber else {
                index = start
                return false
            }
        }
        if peek() == .ampersand, peek(1) == .greaterThan, !isDash { index += 1 }
        guard let operation = peek(), operation == .lessThan || operation == .greaterThan,
            isDash || peek(1) != .openingParenthesis
        else { return false }
        index += 1
        let next = peek() ?? 0
        let isDocument = operation == .lessThan && next == .lessThan && (peek(1) != .lessThan || isDash)
        let isText = operation == .lessThan && next == .lessThan
        if isText { index += isDocument ? 1 : 2 }
        let stripsTabs = isDocument && peek() == UInt8(ascii: "-")
        if stripsTabs
            || !isText && (next == .greaterThan || next == .ampersand || operation == .greaterThan && next == .bar)
        {
            index += 1
        }
        skipBlanks()
        let target = try someWord(isDelimiter: isDocument)
        if isDocument {
            pending.append(PendingDocument(start: start, delimiter: target.text, stripsTabs: stripsTabs))
        } else if isText {
            data.append(target.range)
        }
        command.redirections.append(target)
        command.range = min(command.range.lowerBound, start)..<index
        return true
    }
}
