/// The words of a line, and the lines of here-documents.
extension ShellReader {
    mutating func endLine() {
        index += 1
        readHereDocuments()
        lineStart = entries.count
    }

    /// Reads the lines of the here-documents that began in the line before; they belong to its commands. One without an
    /// end goes to the end of the file.
    mutating func readHereDocuments() {
        guard !hereDocuments.isEmpty else { return }
        for document in hereDocuments {
            while index < bytes.count {
                var start = index
                let end = bytes[index...].firstIndex(of: .lineFeed) ?? bytes.count
                index = min(end + 1, bytes.count)
                while document.stripsTabs, start < end, bytes[start] == .tab { start += 1 }
                if bytes[start..<end].elementsEqual(document.delimiter) { break }
            }
        }
        hereDocuments = []
        for entry in entries.indices.dropFirst(lineStart) {
            entries[entry].range = entries[entry].range.lowerBound..<max(entries[entry].range.upperBound, index)
        }
    }

    mutating func skipBlanks() {
        while index < bytes.count {
            if bytes[index] == .space || bytes[index] == .tab {
                index += 1
            } else if bytes[index] == .backslash, peek(1) == .lineFeed {
                index += 2
            } else {
                return
            }
        }
    }

    mutating func skipComment() {
        index = bytes[index...].firstIndex(of: .lineFeed) ?? bytes.count
    }

    func peek(_ distance: Int) -> UInt8? { index + distance < bytes.count ? bytes[index + distance] : nil }

    // MARK: Words

    /// Advances to the end of a word, or not at all where none begins.
    mutating func readWord() throws(SyntaxError) {
        while let byte = peek(0) {
            switch byte {
            case .space, .tab, .lineFeed, .semicolon, .ampersand, .bar, .lessThan, .greaterThan, .openingParenthesis,
                .closingParenthesis:
                return
            default: try readPiece(byte, inQuotes: false)
            }
        }
    }

    /// Advances over one character, or what a quote, a backslash or a dollar sign begins.
    private mutating func readPiece(_ byte: UInt8, inQuotes: Bool) throws(SyntaxError) {
        switch byte {
        case .backslash: index = min(index + 2, bytes.count)
        case .singleQuote where !inQuotes: try skipPast(.singleQuote)
        case .doubleQuote where !inQuotes:
            index += 1
            try read(to: .doubleQuote, inQuotes: true)
        case .backtick where isDelimiter && isDash, .dollar where isDelimiter && isDash: index += 1
        case .dollar where !isDash && !inQuotes && peek(1) == .singleQuote:
            index += 1
            try skipPast(.singleQuote, escapes: true)
        case .backtick: try substitution { reader throws(SyntaxError) in try reader.skipPast(.backtick, escapes: true) }
        case .dollar where peek(1) == .openingParenthesis && peek(2) == .openingParenthesis:
            try substitution { reader throws(SyntaxError) in
                reader.index += 3
                try reader.read(to: .closingParenthesis, inQuotes: true)
                guard reader.peek(0) == .closingParenthesis else { throw SyntaxError() }
                reader.index += 1
            }
        case .dollar where peek(1) == .openingParenthesis:
            try substitution { reader throws(SyntaxError) in
                reader.index += 2
                try reader.list(isNested: true)
            }
        case .dollar where peek(1) == .openingBrace: try expansion(inQuotes: inQuotes)
        default: index += 1
        }
    }

    /// Advances behind the closing character, over nested pieces.
    mutating func read(to close: UInt8, inQuotes: Bool) throws(SyntaxError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw SyntaxError() }
        while let byte = peek(0) {
            if byte == close {
                index += 1
                return
            }
            if byte == .openingParenthesis, close == .closingParenthesis {
                index += 1
                try read(to: close, inQuotes: inQuotes)
            } else {
                try readPiece(byte, inQuotes: inQuotes)
            }
        }
        throw SyntaxError()
    }

    /// Advances from an opening character behind the closing one.
    ///
    /// - Parameter escapes: whether a backslash hides the closing one.
    private mutating func skipPast(_ quote: UInt8, escapes: Bool = false) throws(SyntaxError) {
        index += 1
        while let byte = peek(0), byte != quote { index += byte == .backslash && escapes ? 2 : 1 }
        guard index < bytes.count else { throw SyntaxError() }
        index += 1
    }

    /// A substitution is one entry, whatever its commands assign in a subshell.
    mutating func substitution(_ body: (inout ShellReader) throws(SyntaxError) -> Void) throws(SyntaxError) {
        let start = index
        let count = entries.count
        try body(&self)
        entries.removeSubrange(count...)
        entries.append(EnvironmentEntry(name: Array("$()".utf8), range: start..<index))
    }

    /// `${NAME}` and its forms, of which two assign.
    private mutating func expansion(inQuotes: Bool) throws(SyntaxError) {
        let start = index
        index += 2
        let name = bytes[index...].prefix(while: \.isNamePart)
        let rest = bytes[name.endIndex...]
        try read(to: .closingBrace, inQuotes: inQuotes)
        guard !name.isEmpty, rest.starts(with: [.equals]) || rest.starts(with: [.colon, .equals]) else { return }
        entries.append(EnvironmentEntry(name: Array(name), range: start..<index))
    }
}
