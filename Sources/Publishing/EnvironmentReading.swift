/// How one kind of reader cuts an environment file into statements.
///
/// Only where statements begin and end is modelled: that is what has to be known so as not to write into somebody
/// else's value. Each model follows its reader's source to the byte, its oddities included.
struct EnvironmentReading {
    /// From each statement's first byte that is not white space to its end, without trailing white space. Comments and
    /// blank lines are no statements.
    private(set) var statements: [Range<Int>] = []
    /// Whether a statement may set more than one variable, or be something else altogether.
    private(set) var isShell = false
    /// Where a quote begins that is never closed.
    private(set) var openQuote: Int?

    fileprivate mutating func add(_ range: Range<Int>, of bytes: [UInt8]) {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1].isEnvironmentSpace || bytes[end - 1].isLineBreak { end -= 1 }
        if end > range.lowerBound { statements.append(range.lowerBound..<end) }
    }
}

extension EnvironmentReading {
    /// The readers that are asked. A shell is left out of a file that it cannot read at all.
    static func all(of bytes: [UInt8]) -> [EnvironmentReading] {
        [
            systemd(bytes, commentsContinue: true), systemd(bytes, commentsContinue: false),
            dotenv(bytes, isRecent: true), dotenv(bytes, isRecent: false),
        ]
            + (shell(bytes).map { [$0] } ?? [])
    }

    /// `parse_env_file_internal` of systemd (src/basic/env-file.c): a carriage return ends a line like a line feed,
    /// quotes count where a value or a further piece of it begins.
    ///
    /// - Parameter commentsContinue: whether a backslash at a comment's end makes the next line part of it: so before
    ///   version 254.
    static func systemd(_ bytes: [UInt8], commentsContinue: Bool) -> EnvironmentReading {
        enum State {
            case beforeName
            case name
            case beforeValue
            case value
            case valueEscape
            case single
            case double
            case doubleEscape
            case comment
            case commentEscape
        }
        var reading = EnvironmentReading()
        var state = State.beforeName
        var start = 0
        var quote = 0
        for (offset, byte) in bytes.enumerated() {
            switch state {
            case .beforeName:
                if byte == .hash || byte == .semicolon {
                    state = .comment
                } else if !byte.isSystemdSpace {
                    state = .name
                    start = offset
                }
            case .name where byte == .equals: state = .beforeValue
            case .name, .beforeValue, .value:
                if byte.isLineBreak {
                    reading.add(start..<offset, of: bytes)
                    state = .beforeName
                } else if state == .name {
                    break
                } else if state == .beforeValue, byte == .singleQuote || byte == .doubleQuote {
                    state = byte == .singleQuote ? .single : .double
                    quote = offset
                } else if byte == .backslash {
                    state = .valueEscape
                } else if !byte.isSystemdSpace {
                    state = .value
                }
            case .valueEscape: state = .value
            case .single: if byte == .singleQuote { state = .beforeValue }
            case .double:
                if byte == .doubleQuote { state = .beforeValue } else if byte == .backslash { state = .doubleEscape }
            case .doubleEscape: state = .double
            case .comment:
                if byte == .backslash { state = .commentEscape } else if byte.isLineBreak { state = .beforeName }
            case .commentEscape: state = !commentsContinue && byte.isLineBreak ? .beforeName : .comment
            }
        }
        switch state {
        case .beforeName, .comment, .commentEscape: break
        case .single, .double, .doubleEscape: reading.openQuote = quote
        case .name, .beforeValue, .value, .valueEscape: reading.add(start..<bytes.count, of: bytes)
        }
        return reading
    }

    /// A POSIX shell's `.` (Shell Command Language, 2.2 and 2.3): quotes count anywhere in a word. Nil for a text that
    /// is no shell script: a quote or parenthesis that is never closed, a line that begins with an operator.
    ///
    /// Beyond a here-document no statement is found, so that nothing in it is taken for one.
    static func shell(_ bytes: [UInt8]) -> EnvironmentReading? {
        var reading = EnvironmentReading()
        reading.isShell = true
        var index = 0
        while true {
            while index < bytes.count, isShellBlank(bytes, index) { index += 1 }
            guard index < bytes.count else { return reading }
            if [.semicolon, .ampersand, .bar, .closingParenthesis].contains(bytes[index]) { return nil }
            let start = index
            var depth = 0
            var isWordStart = true
            // An operator that wants another command behind it, which may stand on the next line.
            var isPending = false
            while index < bytes.count, bytes[index] != .lineFeed || depth > 0 || isPending {
                let byte = bytes[index]
                switch byte {
                case .hash where isWordStart:
                    while index < bytes.count, bytes[index] != .lineFeed { index += 1 }
                    continue
                case .singleQuote, .backtick:
                    guard let close = bytes[(index + 1)...].firstIndex(of: byte) else { return nil }
                    index = close
                case .doubleQuote:
                    guard let close = closingQuote(bytes, from: index + 1, .doubleQuote) else { return nil }
                    index = close
                case .backslash: index = min(index + 1, bytes.count - 1)
                case .openingParenthesis: depth += 1
                case .closingParenthesis: depth = max(0, depth - 1)
                case .lessThan where index + 1 < bytes.count && bytes[index + 1] == .lessThan:
                    reading.add(start..<bytes.count, of: bytes)
                    return reading
                default: break
                }
                if !isShellBlank(bytes, index) { isPending = byte == .bar || byte == .ampersand }
                isWordStart = byte == .space || byte == .tab || byte == .lineFeed || byte == .semicolon
                index += 1
            }
            guard depth == 0 else { return nil }
            if bytes[start] != .hash { reading.add(start..<min(index, bytes.count), of: bytes) }
        }
    }

    /// A carriage return is a character like any other to a shell; before a line feed it is overlooked here, because an
    /// empty line in a file with such line breaks is none of a shell's to refuse.
    private static func isShellBlank(_ bytes: [UInt8], _ index: Int) -> Bool {
        bytes[index].isEnvironmentSpace || bytes[index] == .lineFeed
            || bytes[index] == .carriageReturn && index + 1 < bytes.count && bytes[index + 1] == .lineFeed
    }

    private static func closingQuote(_ bytes: [UInt8], from start: Int, _ quote: UInt8) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == quote { return index }
            index += bytes[index] == .backslash ? 2 : 1
        }
        return nil
    }
}

extension EnvironmentReading {
    /// python-dotenv (`parser.py`), whose regular expressions other dotenv libraries share: no continued lines, a
    /// backslash before a quote keeps it from closing in single quotes too, and a quote that is never closed spoils
    /// its own line alone.
    ///
    /// - Parameter isRecent: since version 1.2.4 at the latest a backslash escapes any character, itself included, and a
    ///   byte-order mark is overlooked; in older ones a backslash means something before a quote alone.
    static func dotenv(_ bytes: [UInt8], isRecent: Bool) -> EnvironmentReading {
        var reading = EnvironmentReading()
        let mark = EnvironmentFile.byteOrderMark
        var index = isRecent && bytes.starts(with: mark) ? mark.count : 0
        // For other readers the mark is part of the first line's statement: it begins there for all.
        var isFirst = index > 0
        func skip(while condition: (UInt8) -> Bool) {
            while index < bytes.count, condition(bytes[index]) { index += 1 }
        }
        while true {
            skip { $0.isEnvironmentSpace || $0.isLineBreak }
            guard index < bytes.count else { return reading }
            let start = isFirst && !bytes[..<index].contains(where: \.isLineBreak) ? 0 : index
            isFirst = false
            defer { skip { !$0.isLineBreak } }
            if bytes[index] == .hash {
                skip { !$0.isLineBreak }
                continue
            }
            if bytes[index...].starts(with: Array("export".utf8)), index + 6 < bytes.count,
                bytes[index + 6].isEnvironmentSpace
            {
                index += 6
                skip(while: \.isEnvironmentSpace)
            }
            if index < bytes.count, bytes[index] == .singleQuote,
                let close = bytes[(index + 1)...].firstIndex(of: .singleQuote), close > index + 1
            {
                index = close + 1
            } else {
                skip { $0 != .equals && $0 != .hash && !$0.isEnvironmentSpace && !$0.isLineBreak }
            }
            skip(while: \.isEnvironmentSpace)
            if index < bytes.count, bytes[index] == .equals {
                index += 1
                skip(while: \.isEnvironmentSpace)
                if index < bytes.count, bytes[index] == .singleQuote || bytes[index] == .doubleQuote,
                    let close = isRecent
                        ? closingQuote(bytes, from: index + 1, bytes[index]) : lenientClosingQuote(bytes, of: index)
                {
                    index = close + 1
                }
            }
            skip { !$0.isLineBreak }
            reading.add(start..<index, of: bytes)
        }
    }

    /// What `"((?:\\"|[^"])*)"` matches: up to the first quote without a backslash before it, else the last with one.
    private static func lenientClosingQuote(_ bytes: [UInt8], of open: Int) -> Int? {
        var escaped: Int?
        var index = open + 1
        while index < bytes.count {
            if bytes[index] == bytes[open] {
                guard index > open + 1, bytes[index - 1] == .backslash else { return index }
                escaped = index
            }
            index += 1
        }
        return escaped
    }
}
