/// Splits an environment file into statements, as far as all programs that read such files agree on where they end.
///
/// The readers are systemd's `EnvironmentFile=`, POSIX shells (`. FILE`) and dotenv libraries. The rules:
///
/// - A statement is a line that is neither blank nor a comment. `#` and `;` begin a comment at the start of a line.
/// - A value that begins with a quote directly after `NAME=` extends to the closing quote, over line breaks too.
/// - A backslash or an operator at the end of a line makes the next line part of the statement for some readers; an
///   assignment in that line is doubtful.
/// - After a quote elsewhere, a parenthesis or a backtick that is not closed on its line, a here-document, a carriage
///   return without a line feed, a vertical tab or a form feed, readers may see different statements: everything to
///   the end of the file is doubtful. A quote that is never closed causes no doubt: readers to which it is a quote
///   reject the file, and the others take it as an ordinary character.
struct EnvironmentLexer {
    /// What makes readers disagree.
    enum Cause: String {
        case quote = "a quote that only some readers close on another line"
        case bracket = "a bracket that is not closed on its line"
        case hereDocument = "a here-document"
        case control = "a control character that ends a line for some readers"
        case backslash = "a backslash at its end"
        case shellOperator = "a shell's operator at its end"
    }

    /// Where readers begin to disagree.
    struct Doubt {
        let offset: Int
        let cause: Cause
    }

    struct Statement {
        /// From the first byte that is no blank to the end of its last line, without trailing blanks and line breaks.
        fileprivate(set) var range: Range<Int>
        /// The end of those lines that all readers take as part of it.
        let agreedEnd: Int
    }

    private(set) var statements: [Statement] = []
    /// Lines that only some readers take as statements of their own.
    private(set) var continued: [(lines: Range<Int>, doubt: Doubt)] = []
    /// From where to the end of the file readers disagree, if they do.
    private(set) var doubt: Doubt?
    /// What would make a line added at the end doubtful, if anything.
    private(set) var doubtAtEnd: Doubt?
    /// Where a quote begins whose end systemd does not find.
    private(set) var openQuote: Int?

    private let bytes: [UInt8]
    /// The last offset of each byte, by its value; -1 if there is none. Searching the rest of the file on every line
    /// would take quadratic time.
    private let lastOffsets: [Int]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var lastOffsets = [Int](repeating: -1, count: 256)
        for (offset, byte) in bytes.enumerated() { lastOffsets[Int(byte)] = offset }
        self.lastOffsets = lastOffsets
        var pending: Doubt?
        var isExtending = false
        while openQuote == nil, doubt == nil {
            let blankLines = skipBlank()
            guard index < bytes.count else { break }
            if blankLines > 0, pending?.cause == .backslash { pending = nil }
            let start = index
            if pending == nil, bytes[index] == .hash {
                pending = comment()
                if index < bytes.count { index += 1 }
                isExtending = false
                continue
            }
            let isComment = pending == nil && bytes[index] == .semicolon
            if pending == nil, !isComment { skipAgreedQuote() }
            let end = rest(ofCommentForSystemd: isComment, from: start)
            let range = start..<trimmed(end.offset, from: start)
            if let pending { continued.append((start..<end.offset, pending)) }
            if pending == nil, !isComment {
                statements.append(Statement(range: range, agreedEnd: range.upperBound))
                isExtending = true
            } else if isExtending, pending?.cause == .backslash, let last = statements.indices.last {
                statements[last].range = statements[last].range.lowerBound..<range.upperBound
            } else {
                isExtending = false
            }
            // Comments may stand between an operator and the line that continues it.
            if index < bytes.count { index += 1 }
            pending = end.continuation ?? (bytes[start] == .hash ? pending : nil)
        }
        doubtAtEnd = doubt ?? pending
    }

    // MARK: Lines

    /// Advances to the next byte that is neither blank nor a line break.
    ///
    /// - Returns: how many lines end before it.
    private mutating func skipBlank() -> Int {
        var lines = 0
        while index < bytes.count {
            switch bytes[index] {
            case .space, .tab: break
            case .lineFeed: lines += 1
            case .carriageReturn where isLineFeed(index + 1): break
            default: return lines
            }
            index += 1
        }
        return lines
    }

    /// Records that readers disagree from `offset` on, unless they do so before.
    private mutating func suspect(offset: Int, cause: Cause) {
        if let doubt, doubt.offset <= offset { return }
        doubt = Doubt(offset: offset, cause: cause)
    }

    /// Advances to the end of a comment.
    ///
    /// - Returns: what makes the next line doubtful: before version 254, systemd continues a comment after a backslash.
    private mutating func comment() -> Doubt? {
        let start = index
        while index < bytes.count, bytes[index] != .lineFeed {
            if bytes[index] == .carriageReturn, !isLineFeed(index + 1) {
                suspect(offset: index, cause: .control)
                return nil
            }
            index += 1
        }
        return trailingBackslash(from: start)
    }

    private func trailingBackslash(from start: Int) -> Doubt? {
        let count = bytes[start..<index].reversed().prefix { $0 == .backslash }.count
        return count.isMultiple(of: 2) ? nil : Doubt(offset: index - 1, cause: .backslash)
    }

    /// Skips the quoted value of a plain assignment, in which all readers look for the closing quote.
    private mutating func skipAgreedQuote() {
        var position = index
        let export = Array("export".utf8)
        if bytes[position...].starts(with: export), position + 6 < bytes.count, isBlank(position + 6) {
            position += 6
            while position < bytes.count, isBlank(position) { position += 1 }
        }
        let name = position
        while position < bytes.count, bytes[position].isOrdinary { position += 1 }
        guard position > name else { return }
        while position < bytes.count, isBlank(position) { position += 1 }
        guard position < bytes.count, bytes[position] == .equals else { return }
        position += 1
        while position < bytes.count, isBlank(position) { position += 1 }
        guard position < bytes.count, bytes[position] == .singleQuote || bytes[position] == .doubleQuote else { return }
        let quote = bytes[position]
        guard let close = closing(quote, from: position + 1, upTo: bytes.count) else {
            openQuote = position
            return
        }
        if isDoubtful(close, from: position + 1) { suspect(offset: position, cause: .quote) }
        index = close + 1
    }

    /// Advances to the end of the line, by a shell's rules.
    ///
    /// - Parameters:
    ///   - ofCommentForSystemd: whether it is a comment with a semicolon, which is no comment for dotenv libraries
    ///     and no valid line for a shell.
    ///   - start: where the statement begins; ``index`` is past it if its value was skipped.
    /// - Returns: where the line ends, and what makes the next one doubtful.
    private mutating func rest(
        ofCommentForSystemd isComment: Bool, from start: Int
    ) -> (offset: Int, continuation: Doubt?) {
        // Whether the name's equals sign was passed; and whether a quote here begins a value for systemd.
        var isBehindEquals = index > start
        var isBeforeValue = isBehindEquals
        var isWordStart = index == start
        var openBrackets: [Int] = []
        var lastOperator: Int?
        var isBehindHash = false
        var continuation: Doubt?
        // The next line break of any kind; found anew only behind the one before, so that a line is searched once.
        var lineEnd = index
        line: while index < bytes.count, bytes[index] != .lineFeed {
            let byte = bytes[index]
            let here = index
            index += 1
            switch byte {
            case .carriageReturn where isLineFeed(index): continue
            case .carriageReturn, 11, 12:
                suspect(offset: here, cause: .control)
            case .hash where isWordStart && isBehindEquals && !isComment:
                // A comment for a shell, the end of the value for systemd, which also continues it after a backslash.
                while index < bytes.count, bytes[index] != .lineFeed {
                    if bytes[index] == .carriageReturn, !isLineFeed(index + 1) {
                        suspect(offset: index, cause: .control)
                    }
                    index += 1
                }
                continuation = trailingBackslash(from: here)
                continue
            case .singleQuote, .doubleQuote, .backtick:
                if isComment, !isBeforeValue { break }
                if lineEnd < index { lineEnd = bytes[index...].firstIndex(where: \.isLineBreak) ?? bytes.count }
                if let close = closing(byte, from: index, upTo: lineEnd) {
                    // systemd and dotenv libraries take an equals sign in it as the one after the name.
                    if isDoubtful(close, from: index) || !isBehindEquals && bytes[index..<close].contains(.equals) {
                        suspect(offset: here, cause: .quote)
                    }
                    index = close + 1
                } else if occurs(byte, from: index) {
                    suspect(offset: here, cause: .quote)
                } else if isBeforeValue, byte != .backtick {
                    openQuote = openQuote ?? here
                }
            case .backslash:
                if index == bytes.count || bytes[index] == .lineFeed {
                    continuation = Doubt(offset: here, cause: .backslash)
                    break line
                }
                // systemd, which knows no escapes in a name, takes the equals sign as the one after it.
                if bytes[index] != .carriageReturn, isBehindEquals || bytes[index] != .equals { index += 1 }
            case .openingParenthesis where !isComment: openBrackets.append(here)
            case .closingParenthesis: _ = openBrackets.popLast()
            case .lessThan where !isComment && index < bytes.count && bytes[index] == .lessThan:
                suspect(offset: here, cause: .hereDocument)
            default: break
            }
            // systemd takes an equals sign at the start as part of the name.
            if byte == .equals, !isBehindEquals, here > start {
                isBehindEquals = true
                isBeforeValue = true
            } else if !isBlank(here), byte != .singleQuote, byte != .doubleQuote {
                isBeforeValue = false
            }
            if byte == .hash, isWordStart { isBehindHash = true }
            if !isBlank(here), !isBehindHash {
                lastOperator = !isComment && (byte == .bar || byte == .ampersand) ? here : nil
            }
            isWordStart = isBlank(here) || byte == .semicolon
        }
        if let bracket = openBrackets.last,
            occurs(.closingParenthesis, from: index) || occurs(.lessThan, from: index)
        {
            suspect(offset: bracket, cause: .bracket)
        }
        return (index, continuation ?? lastOperator.map { Doubt(offset: $0, cause: .shellOperator) })
    }

    // MARK: Bytes

    /// Where the quote closes before `end`. A backslash escapes it, except for single quotes.
    private func closing(_ quote: UInt8, from start: Int, upTo end: Int) -> Int? {
        var position = start
        while position < end {
            if bytes[position] == quote { return position }
            position += bytes[position] == .backslash && quote != .singleQuote ? 2 : 1
        }
        return nil
    }

    /// Whether dotenv libraries may end the value at a later quote than the one at `close`: after a backslash they do,
    /// and take only the line if there is none.
    private func isDoubtful(_ close: Int, from start: Int) -> Bool {
        guard close > start, bytes[close - 1] == .backslash else { return false }
        return occurs(bytes[close], from: close + 1) || bytes[start..<close].contains(where: \.isLineBreak)
    }

    private func occurs(_ byte: UInt8, from offset: Int) -> Bool { lastOffsets[Int(byte)] >= offset }

    /// `end` without the blanks and line breaks before it.
    private func trimmed(_ end: Int, from start: Int) -> Int {
        var end = end
        while end > start, bytes[end - 1].isEnvironmentSpace || bytes[end - 1].isLineBreak { end -= 1 }
        return end
    }

    private func isLineFeed(_ offset: Int) -> Bool { offset < bytes.count && bytes[offset] == .lineFeed }

    private func isBlank(_ offset: Int) -> Bool { bytes[offset] == .space || bytes[offset] == .tab }
}
