/// What a shell (bash and dash) sees when it sources a file: `. FILE`.
///
/// It is followed only as far as the places of assignments need it. Of compound commands, only the words that begin and end
/// them are followed, and the patterns of `case`.
///
/// - The entries are the variables that are assigned, also by `export` and its like, by `${NAME:=…}`, and before a command,
///   which a placeholder of several words looks like. So is each name in the words of a command that may assign it: `let`,
///   `eval`, `read` and their like.
/// - A builtin command and a command substitution are entries with a name that no variable has. Other commands are none:
///   what follows `;` in a password is no program.
/// - What a pipeline, a subshell, a function or an unmet condition keeps from the file's own shell has such a name, too, and
///   what is assigned to a variable that is read-only by then (``hidden(_:)``).
/// - Behind a command that certainly ends the file (`return`, `exit`, `exec`), nothing is read.
/// - For dash, a backtick or a dollar sign in the word that ends a here-document is itself; for bash, a backslash hides a
///   quote in `$'…'`.
struct ShellReader {
    struct SyntaxError: Error {}

    /// Where a here-document's lines end.
    struct HereDocument {
        let delimiter: [UInt8]
        let stripsTabs: Bool
    }

    let bytes: [UInt8]
    let isDash: Bool
    var index: Int
    var entries: [EnvironmentEntry] = []
    var hereDocuments: [HereDocument] = []
    /// The number of entries before the current line.
    var lineStart = 0
    var depth = 0
    /// The compound commands around the current one, by the words that began them.
    private var compounds: [String] = []
    /// Whether a function's name was read last, whose body follows.
    private var isFunction = false
    /// The variables that no later assignment changes.
    private var readOnly: Set<[UInt8]> = []
    /// Whether the word being read ends a here-document.
    var isDelimiter = false
    private(set) var exports = ShellExports()

    /// Nested more deeply, a file is rejected here. No program writes such a file.
    static let depthLimit = 50
    private static let declarations: Set<String> = ["export", "readonly", "declare", "typeset", "local"]
    private static let builtins: Set<String> = [
        "unset", "read", "eval", "set", ".", "source", "exec", "exit", "return", "alias", "cd", "umask", "trap",
    ]
    /// Commands that may assign each variable whose name is in their words; the latter ones are bash's only.
    private static let assigning: Set<String> = ["unset", "read", "eval", "getopts", "trap", "for"]
    private static let assigningInBash: Set<String> = ["let", "mapfile", "readarray", "select"]
    private static let ending: Set<String> = ["return", "exit", "exec"]
    /// Reserved words, with what each may end.
    private static let reserved: [String: Set<String>] = [
        "!": [], "time": [], "{": [], "if": [], "while": [], "until": [], "then": ["if"], "elif": ["if"],
        "else": ["if"],
        "do": ["while", "until", "for", "select"], "done": ["while", "until", "for", "select"], "fi": ["if"],
        "esac": ["case"], "}": ["{", "function"],
    ]

    private init(_ bytes: [UInt8], isDash: Bool) {
        self.bytes = bytes
        self.isDash = isDash
        // A byte-order mark is a part of the first word.
        index = 0
    }

    /// The variables in the file; nil when a shell stops at an error in its syntax.
    ///
    /// - Parameter isDash: false: the shell is bash.
    static func entries(in bytes: [UInt8], isDash: Bool) -> [EnvironmentEntry]? {
        atEnd(of: bytes, isDash: isDash)?.entries
    }

    /// The reader that has read a file to its end; nil when the shell stops at an error in its syntax.
    static func atEnd(of bytes: [UInt8], isDash: Bool) -> ShellReader? {
        var reader = ShellReader(bytes, isDash: isDash)
        do throws(SyntaxError) {
            try reader.list(isNested: false)
            return reader
        } catch {
            return nil
        }
    }

    // MARK: Commands

    /// Reads commands up to the end of the file or the closing parenthesis.
    mutating func list(isNested: Bool) throws(SyntaxError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw SyntaxError() }
        let around = compounds
        compounds = []
        defer { compounds = around }
        var pipelineStart = entries.count
        /// Whether the operator before it demands another command.
        var isDemanded = false
        /// Whether the next command certainly runs in this shell.
        var isCertain = true
        while true {
            skipBlanks()
            guard index < bytes.count else {
                if isDemanded || isNested || !compounds.isEmpty { throw SyntaxError() }
                return readHereDocuments()
            }
            switch bytes[index] {
            case .hash:
                skipComment()
                continue
            case .lineFeed:
                endLine()
                if !isDemanded { (pipelineStart, isCertain) = (entries.count, true) }
                continue
            case .closingParenthesis where isNested && !isDemanded && compounds.isEmpty:
                index += 1
                return
            case .semicolon where !isDemanded && branchEnd != nil:
                index += branchEnd ?? 0
                try patterns()
                (pipelineStart, isCertain) = (entries.count, true)
                continue
            default: break
            }
            let start = entries.count
            let isUnconditional = isCertain && compounds.allSatisfy { $0 == "{" }
            let kind = try command()
            // The first command of a function is read with the brace.
            if !isUnconditional || compounds.last == "function" { hide(from: start) }
            isDemanded = isFunction
            if isFunction || kind == .patterns { continue }
            skipBlanks()
            if kind == .end, isUnconditional, !isNested, compounds.isEmpty, isEndOfList {
                index = bytes.count
                return
            }
            guard index < bytes.count else { continue }
            switch (bytes[index], peek(1)) {
            case (.ampersand, .ampersand):
                index += 2
                (isDemanded, isCertain, pipelineStart) = (true, isCertain && kind == .assignment, entries.count)
            case (.bar, .bar):
                index += 2
                (isDemanded, isCertain, pipelineStart) = (true, false, entries.count)
            case (.bar, let next):
                index += next == .ampersand ? 2 : 1
                // What was not certain is hidden already.
                if isCertain { hide(from: pipelineStart) }
                (isDemanded, isCertain) = (true, false)
            case (.semicolon, _) where branchEnd != nil: break
            case (.semicolon, let next):
                if next == .semicolon { throw SyntaxError() }
                index += 1
                (pipelineStart, isCertain) = (entries.count, true)
            case (.ampersand, _):
                index += 1
                (pipelineStart, isCertain) = (entries.count, true)
            case (.lineFeed, _), (.hash, _), (.closingParenthesis, _): break
            default: throw SyntaxError()
            }
        }
    }

    private enum Kind {
        /// An assignment and nothing else, which never fails.
        case assignment
        /// The last that is read of the file.
        case end
        /// The beginning of a `case`, behind which the commands of a branch follow.
        case patterns
        case other
    }

    /// Whether nothing follows that would carry out the command before it elsewhere, or not at all.
    private var isEndOfList: Bool {
        switch peek(0) {
        case nil, .lineFeed, .hash: true
        case .semicolon: peek(1) != .semicolon
        default: false
        }
    }

    /// How long the text is here that ends a branch of `case`; nil where there is none.
    private var branchEnd: Int? {
        guard compounds.last == "case", peek(0) == .semicolon else { return nil }
        let fallsThrough = !isDash && peek(peek(1) == .semicolon ? 2 : 1) == .ampersand
        return peek(1) == .semicolon ? (fallsThrough ? 3 : 2) : fallsThrough ? 2 : nil
    }

    /// Advances behind the patterns of a branch of `case`, or to the word that ends it.
    private mutating func patterns() throws(SyntaxError) {
        skipBlanks()
        while let byte = peek(0), byte == .lineFeed || byte == .hash {
            if byte == .hash { skipComment() } else { endLine() }
            skipBlanks()
        }
        let start = index
        if peek(0) == .openingParenthesis { index += 1 }
        while true {
            skipBlanks()
            let word = index
            try readWord()
            guard index > word else { throw SyntaxError() }
            if word == start, bytes[word..<index].elementsEqual("esac".utf8) {
                index = word
                return
            }
            skipBlanks()
            index += 1
            switch peek(-1) {
            case .bar: break
            case .closingParenthesis: return
            default: throw SyntaxError()
            }
        }
    }

    /// Reads one command.
    private mutating func command() throws(SyntaxError) -> Kind {
        let start = index
        let before = entries.count
        if bytes[index] == .openingParenthesis {
            let isArithmetic = !isDash && peek(1) == .openingParenthesis
            index += 1
            try list(isNested: true)
            hide(from: before)
            isFunction = false
            if isArithmetic {
                entries += names(in: start..<index).map { EnvironmentEntry(name: $0, range: start..<index) }
            }
            return .other
        }
        var end = index
        var words = Words()
        while index < bytes.count {
            let word = index
            switch bytes[index] {
            case .hash: break
            case .lessThan, .greaterThan: try redirection()
            case .ampersand where peek(1) == .greaterThan:
                index += 1
                try redirection()
            case .openingParenthesis:
                // The parentheses of a function's name.
                guard words.command != nil, peek(1) == .closingParenthesis else { throw SyntaxError() }
                index += 2
                isFunction = true
            default:
                try readWord()
                let isBody = isFunction
                if index > word { try note(word..<index, in: &words) }
                if isBody && isFunction { throw SyntaxError() }
                if words.command == "case", words.isFirst, words.count == 2, compounds.last == "case" {
                    guard bytes[word..<index].elementsEqual("in".utf8) else { throw SyntaxError() }
                    try patterns()
                    return .patterns
                }
            }
            if index == word { break }
            if index < bytes.count, bytes[index] == .openingParenthesis, bytes[index - 1] == .equals,
                words.command == nil
            {
                try array()
            }
            end = index
            skipBlanks()
            if isFunction { break }
        }
        guard end > start else { throw SyntaxError() }
        let isPlain = words.command == nil && !words.isReserved && entries.count == before
        for name in words.names {
            let isLost = readOnly.contains(name)
            exports.note(name, isExport: words.command == "export" || words.isExport)
            entries.append(EnvironmentEntry(name: name, range: start..<end))
            if isLost { hide(from: entries.count - 1) }
        }
        guard let command = words.command else { return isPlain ? .assignment : .other }
        if command == "readonly" { readOnly.formUnion(words.readOnly) }
        if let exportsAll = words.options.exportsAll, words.isFirst, depth == 1, compounds.isEmpty {
            exports.set(exportsAll, at: start, beginsLine: start == 0 || bytes[start - 1] == .lineFeed)
        }
        if Self.builtins.contains(command) || Self.declarations.contains(command) && words.names.isEmpty {
            entries.append(EnvironmentEntry(name: Array("command \(command)".utf8), range: start..<end))
        }
        // `exec` with redirections only goes on, and words behind an assignment are more likely a placeholder.
        return Self.ending.contains(command) && words.isFirst && (command != "exec" || words.count > 0) ? .end : .other
    }

    /// What the words of a command say so far.
    struct Words {
        /// The variables that are assigned.
        var names: [[UInt8]] = []
        var readOnly: [[UInt8]] = []
        var command: String?
        /// Whether nothing is assigned before the command.
        var isFirst = true
        var isReserved = false
        /// Of the words behind the command.
        var count = 0
        /// Whether each name in a word may be assigned.
        var assignsAll = false
        /// Whether `-x` has what is declared exported.
        var isExport = false
        /// What `set` says of what is exported.
        var options = ShellExports.Options()
    }

    /// Records what a word of a command assigns, or that it is the command.
    private mutating func note(_ word: Range<Int>, in words: inout Words) throws(SyntaxError) {
        var word = word
        // How readers differ about a byte-order mark is `EnvironmentFile`'s concern. Behind one, no word is reserved.
        let hasMark = word.lowerBound == 0 && bytes.starts(with: EnvironmentFile.byteOrderMark)
        if hasMark { word = EnvironmentFile.byteOrderMark.count..<word.upperBound }
        let name = bytes[word].prefix(while: \.isNamePart)
        let isAssignment = name.first?.isNameStart == true && assigns(bytes[name.endIndex..<word.upperBound])
        guard let known = words.command else {
            if isAssignment {
                words.names.append(Array(name))
                return
            }
            let written = String(decoding: bytes[word], as: UTF8.self)
            if words.names.isEmpty, !hasMark, try begins(written) {
                words.isReserved = true
                return
            }
            // Quoted, it is the same command, but no reserved word.
            let text = String(decoding: bytes[word].filter { !$0.isQuote && $0 != .backslash }, as: UTF8.self)
            words.command = text
            words.isFirst = words.names.isEmpty
            words.assignsAll = Self.assigning.contains(text) || !isDash && Self.assigningInBash.contains(text)
            let isCompound = written == "for" || written == "case" || written == "select" && !isDash
            if words.isFirst, !hasMark, isCompound { compounds.append(text) }
            return
        }
        words.count += 1
        if known == "set" { words.options.note(bytes[word]) }
        if known == "function", words.count == 1, words.isFirst, !isDash {
            isFunction = true
        } else if words.assignsAll {
            // `for NAME in WORDS` assigns one variable.
            if known != "for" && known != "select" || words.count == 1 { words.names += names(in: word) }
        } else if Self.declarations.contains(known), let name = declaredName(word) {
            words.names.append(name)
            if known == "readonly" { words.readOnly.append(name) }
        } else if known == "export", isName(word) {
            exports.note(Array(bytes[word]), isExport: true)
        } else if known == "readonly" {
            words.readOnly.append(Array(name))
        } else if words.count == 1, bytes[word].first == UInt8(ascii: "-"), !isDash {
            // `printf -v NAME`, and attributes that change how a variable is assigned, or which one is.
            let options = bytes[word].dropFirst()
            let isDeclaration = ["declare", "typeset"].contains(known)
            words.isExport = isDeclaration && options.contains(UInt8(ascii: "x"))
            words.assignsAll =
                known == "printf"
                ? options.first == UInt8(ascii: "v")
                : isDeclaration && options.contains { !"xgp".utf8.contains($0) }
            if known == "printf", words.assignsAll { words.names += names(in: (word.lowerBound + 2)..<word.upperBound) }
        } else if bytes[word].first == .equals, words.names.isEmpty {
            // `NAME = value` is a command to a shell only.
            words.names.append(Array(known.utf8))
        }
    }

    private func isName(_ word: Range<Int>) -> Bool {
        bytes[word].first?.isNameStart == true && bytes[word].allSatisfy(\.isNamePart)
    }

    /// The variable that `export` and its like assign by this word, the whole of which may be quoted; nil where it assigns none.
    private func declaredName(_ word: Range<Int>) -> [UInt8]? {
        let text = bytes[word].filter { !$0.isQuote && $0 != .backslash }
        let name = text.prefix(while: \.isNamePart)
        return name.first?.isNameStart == true && assigns(text[name.endIndex...]) ? Array(name) : nil
    }

    /// Follows a reserved word; false when it is none.
    mutating func begins(_ word: String) throws(SyntaxError) -> Bool {
        guard let ends = Self.reserved[word] else { return false }
        if !ends.isEmpty {
            guard let last = compounds.last, ends.contains(last) else { throw SyntaxError() }
            if ["fi", "done", "esac", "}"].contains(word) { compounds.removeLast() }
        }
        switch word {
        case "if", "while", "until": compounds.append(word)
        case "{": compounds.append(isFunction ? "function" : word)
        default: break
        }
        guard compounds.count <= Self.depthLimit else { throw SyntaxError() }
        isFunction = false
        return true
    }

    /// The names in a text, without those of variables whose values it takes.
    private func names(in text: Range<Int>) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var position = text.lowerBound
        while position < text.upperBound {
            guard bytes[position].isNamePart else {
                position += 1
                continue
            }
            let name = bytes[position..<text.upperBound].prefix(while: \.isNamePart)
            let before = position > text.lowerBound ? bytes[position - 1] : nil
            let isValue =
                before == .dollar
                || before == .openingBrace && position > text.lowerBound + 1 && bytes[position - 2] == .dollar
            if bytes[position].isNameStart, !isValue { names.append(Array(name)) }
            position = name.endIndex
        }
        return names
    }

    /// Whether an assignment goes on like this after the name. For bash also as `+=`, which appends, and with the index of
    /// an array, whose first element is what the name alone means.
    private func assigns(_ rest: ArraySlice<UInt8>) -> Bool {
        var rest = rest
        if !isDash {
            if rest.first == UInt8(ascii: "["), let end = rest.firstIndex(of: UInt8(ascii: "]")) {
                rest = rest[(end + 1)...]
            }
            if rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        }
        return rest.first == .equals
    }

    /// Gives what was assigned since `start` names that no variable has.
    private mutating func hide(from start: Int) {
        for entry in start..<entries.count where entries[entry].name.first != .openingParenthesis {
            entries[entry].name = Self.hidden(entries[entry].name)
        }
    }

    /// The name of what may assign a variable, or never does.
    static func hidden(_ name: [UInt8]) -> [UInt8] { [.openingParenthesis] + name + [.closingParenthesis] }

    /// `<`, `>` and the word behind, without which the syntax is wrong.
    private mutating func redirection() throws(SyntaxError) {
        let isInput = bytes[index] == .lessThan
        index += 1
        var isHereDocument = false
        var stripsTabs = false
        if isInput, peek(0) == .lessThan {
            index += 1
            isHereDocument = peek(0) != .lessThan
            if !isHereDocument { index += 1 }
            stripsTabs = isHereDocument && peek(0) == UInt8(ascii: "-")
            if stripsTabs { index += 1 }
        } else if let next = peek(0), next == .greaterThan || next == .ampersand || !isInput && next == .bar {
            index += 1
        }
        skipBlanks()
        let word = index
        isDelimiter = isHereDocument
        try readWord()
        isDelimiter = false
        guard index > word else { throw SyntaxError() }
        guard isHereDocument else { return }
        let delimiter = bytes[word..<index].filter { !$0.isQuote && $0 != .backslash }
        hereDocuments.append(HereDocument(delimiter: Array(delimiter), stripsTabs: stripsTabs))
    }

    /// An array of bash's, over several lines too.
    private mutating func array() throws(SyntaxError) {
        index += 1
        while true {
            skipBlanks()
            switch peek(0) {
            case .closingParenthesis:
                index += 1
                return
            case .hash: skipComment()
            case .lineFeed: index += 1
            default:
                let word = index
                try readWord()
                guard index > word else { throw SyntaxError() }
            }
        }
    }
}
