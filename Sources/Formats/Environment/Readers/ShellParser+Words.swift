import AppleClientSecret

/// The words of a script, and the text between them.
extension ShellParser {
    func peek(_ distance: Int = 0) -> UInt8? { index + distance < bytes.count ? bytes[index + distance] : nil }

    mutating func skipBlanks() {
        while let byte = peek() {
            if byte == .space || byte == .tab {
                index += 1
            } else if byte == .backslash, peek(1) == .lineFeed {
                index += 2
            } else {
                return
            }
        }
    }

    /// Advances over blanks, comments and line breaks.
    mutating func skipLines() {
        while true {
            skipBlanks()
            if peek() == .hash {
                index = bytes[index...].firstIndex(of: .lineFeed) ?? bytes.count
            } else if peek() == .lineFeed {
                index += 1
                readHereDocuments()
            } else {
                return
            }
        }
    }

    /// Reads the lines of the here-documents that began in the line before. One without an end goes to the end of the file.
    private mutating func readHereDocuments() {
        for document in pending {
            let body = index
            while index < bytes.count {
                var start = index
                let end = bytes[index...].firstIndex(of: .lineFeed) ?? bytes.count
                index = min(end + 1, bytes.count)
                while document.stripsTabs, start < end, bytes[start] == .tab { start += 1 }
                if bytes[start..<end].elementsEqual(document.delimiter) { break }
            }
            documents.append(document.start..<index)
            data.append(body..<index)
        }
        pending = []
    }

    /// Reads a word, which is empty if none begins.
    mutating func word(isDelimiter: Bool = false) throws(ShellError) -> ScriptWord {
        var word = ScriptWord(at: index)
        while let byte = peek(), !endsWord(byte) {
            if isDelimiter, isDash, byte == .dollar || byte == .backtick {
                word.text.append(byte)
                index += 1
            } else {
                try piece(byte, of: &word, inQuotes: false)
            }
        }
        word.range = word.range.lowerBound..<index
        return word
    }

    /// Reads a word that must be present.
    mutating func someWord(isDelimiter: Bool = false) throws(ShellError) -> ScriptWord {
        let word = try word(isDelimiter: isDelimiter)
        guard !word.range.isEmpty else { throw .syntax }
        return word
    }

    private func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case .space, .tab, .lineFeed, .semicolon, .ampersand, .bar, .openingParenthesis, .closingParenthesis: true
        case .lessThan, .greaterThan: isDash || peek(1) != .openingParenthesis
        default: false
        }
    }

    /// Advances over one character, or the text after a quote, a backslash or a dollar sign.
    private mutating func piece(_ byte: UInt8, of word: inout ScriptWord, inQuotes: Bool) throws(ShellError) {
        switch byte {
        case .backslash where peek(1) == .lineFeed: index += 2
        case .backslash:
            word.mark(isQuote: true)
            if let next = peek(1) {
                if inQuotes, !"$`\"\\".utf8.contains(next) { word.text.append(byte) }
                word.text.append(next)
            }
            index = min(index + 2, bytes.count)
        case .singleQuote where !inQuotes:
            word.mark(isQuote: true)
            try skipQuoted(&word, escapes: false)
        case .doubleQuote:
            word.mark(isQuote: true)
            index += 1
            try pieces(to: .doubleQuote, of: &word, inQuotes: true)
        case .backtick:
            word.isSubstituted = true
            word.mark(isQuote: false)
            word.text.append(byte)
            try skipQuoted(&word, escapes: true)
            word.text.append(byte)
        case .lessThan where !inQuotes && !isDash && peek(1) == .openingParenthesis,
            .greaterThan where !inQuotes && !isDash && peek(1) == .openingParenthesis:
            index += 2
            do throws(ShellError) { try substitution(&word) } catch { throw .unclear }
        case .dollar: try expansion(&word, inQuotes: inQuotes)
        default:
            word.text.append(byte)
            index += 1
        }
    }

    /// Advances behind the closing character, over nested pieces.
    private mutating func pieces(to close: UInt8, of word: inout ScriptWord, inQuotes: Bool) throws(ShellError) {
        try nested { parser throws(ShellError) in
            while let byte = parser.peek() {
                if byte == close {
                    parser.index += 1
                    return
                }
                if byte == .openingParenthesis, close == .closingParenthesis {
                    parser.index += 1
                    try parser.pieces(to: close, of: &word, inQuotes: inQuotes)
                } else {
                    try parser.piece(byte, of: &word, inQuotes: inQuotes)
                }
            }
            throw .syntax
        }
    }

    /// Advances from an opening quote behind the next one.
    ///
    /// - Parameter escapes: whether a backslash hides it.
    private mutating func skipQuoted(_ word: inout ScriptWord, escapes: Bool) throws(ShellError) {
        let quote = bytes[index]
        index += 1
        while let byte = peek(), byte != quote {
            word.text.append(byte)
            index += byte == .backslash && escapes ? 2 : 1
        }
        guard index < bytes.count else { throw .syntax }
        index += 1
    }

    private mutating func expansion(_ word: inout ScriptWord, inQuotes: Bool) throws(ShellError) {
        index += 1
        switch peek() {
        case .singleQuote where !isDash && !inQuotes:
            word.mark(isQuote: true)
            try skipQuoted(&word, escapes: true)
        case .openingParenthesis:
            word.mark(isQuote: false)
            index += 1
            if peek() == .openingParenthesis { try arithmetic(&word) } else { try substitution(&word) }
        case UInt8(ascii: "[") where !isDash:
            word.mark(isQuote: false)
            word.isArithmetic = true
            index += 1
            try pieces(to: UInt8(ascii: "]"), of: &word, inQuotes: true)
        case .openingBrace: try parameter(&word, inQuotes: inQuotes)
        case .doubleQuote where !isDash && !inQuotes: break
        default:
            word.mark(isQuote: false)
            word.text.append(.dollar)
        }
    }

    /// Advances from the second parenthesis of an arithmetic expression behind its end. For bash, commands may be there instead.
    mutating func arithmetic(_ word: inout ScriptWord) throws(ShellError) {
        word.isArithmetic = true
        word.text += "$((".utf8
        index += 1
        do throws(ShellError) {
            try pieces(to: .closingParenthesis, of: &word, inQuotes: true)
            guard peek() == .closingParenthesis else { throw .syntax }
        } catch {
            throw isDash ? error : .unclear
        }
        index += 1
    }

    /// `( … )` in a word: commands, which a subshell carries out.
    private mutating func substitution(_ word: inout ScriptWord) throws(ShellError) {
        word.mark(isQuote: false)
        word.isSubstituted = true
        let start = index
        let around = pending
        pending = []
        try nested { parser throws(ShellError) in _ = try parser.lists(to: .parenthesis, mayBeEmpty: true) }
        index += 1
        // The shells differ about its end.
        guard pending.isEmpty else { throw .unclear }
        pending = around
        word.text += bytes[start..<index]
    }

    /// `${NAME}` and its forms.
    private mutating func parameter(_ word: inout ScriptWord, inQuotes: Bool) throws(ShellError) {
        word.mark(isQuote: false)
        word.text += [.dollar, .openingBrace]
        index += 1
        let name = bytes[index...].prefix(while: \.isNamePart)
        word.text += name
        index = name.endIndex
        var form = bytes[index...].prefix(2)
        if form.first == .colon { form = form.dropFirst() }
        let operation = form.first ?? 0
        // A name that continues in the next line is not followed.
        if peek() == .backslash { throw .unclear }
        // Newer versions of bash carry out the commands in `${ …; }`.
        if name.isEmpty, !isDash,
            operation == .bar || operation == .space || operation == .tab || operation == .lineFeed
        {
            throw .unclear
        }
        if operation == .equals, !name.isEmpty { word.defaults.append(Array(name)) }
        let isPattern = "#%/^,".utf8.contains(operation)
        // In quotes, dash takes a single one for itself there, and bash not always.
        let end = bytes[index...].prefix { $0 != .closingBrace && $0 != .lineFeed }
        if inQuotes, !isPattern, !isDash, end.count(where: { $0 == .singleQuote }) % 2 == 1 { throw .unclear }
        try pieces(to: .closingBrace, of: &word, inQuotes: inQuotes && !isPattern)
        word.text.append(.closingBrace)
    }

    /// Keeps nested pieces and commands from being as many as the memory for calls allows.
    mutating func nested(_ body: (inout ShellParser) throws(ShellError) -> Void) throws(ShellError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw .unclear }
        try body(&self)
    }
}
