import AppleClientSecret

/// One assignment of a variable in an environment file, as offsets into its bytes.
struct EnvironmentAssignment {
    let name: String
    /// From the name, or the `export` before it, to the end of its value or of the comment after that.
    let statement: Range<Int>
    /// The offset of the line break that ends the statement, or the end of the file.
    let lineEnd: Int
    private let nameStart: Int
    private let hasByteOrderMark: Bool
    private let valueStart: Int
    /// The start of a comment after the value, or the statement's end.
    private let valueEnd: Int

    /// `statement` as an assignment of `name`; nil when it begins with something else.
    init?(_ bytes: [UInt8], statement: Range<Int>, name: String) {
        self.statement = statement
        self.name = name
        var reader = LineReader(bytes)
        reader.index = statement.lowerBound
        hasByteOrderMark = reader.index == 0 && bytes.starts(with: EnvironmentFile.byteOrderMark)
        if hasByteOrderMark {
            reader.index = EnvironmentFile.byteOrderMark.count
            reader.skip(while: \.isEnvironmentSpace)
        }
        reader.skipExport(\.isEnvironmentSpace)
        nameStart = reader.index
        let end = statement.upperBound
        guard nameStart < end, bytes[nameStart..<end].starts(with: name.utf8) else { return nil }
        reader.index += name.utf8.count
        reader.skip(while: \.isEnvironmentSpace)
        guard reader.index < end, bytes[reader.index] == .equals else { return nil }
        valueStart = reader.index + 1
        valueEnd = Self.commentStart(in: bytes, valueStart..<end) ?? end
        reader.index = end
        reader.skip(while: \.isEnvironmentSpace)
        lineEnd = reader.index
    }

    /// The start of a comment after a value: a number sign after a blank or after the closing quote.
    private static func commentStart(in bytes: [UInt8], _ value: Range<Int>) -> Int? {
        var index = value.lowerBound
        while index < value.upperBound, bytes[index].isEnvironmentSpace { index += 1 }
        if index < value.upperBound, bytes[index].isQuote {
            let quote = bytes[index]
            var close = index + 1
            while close < value.upperBound, bytes[close] != quote {
                close += bytes[close] == .backslash && quote == .doubleQuote ? 2 : 1
            }
            if close < value.upperBound { index = close + 1 }
            if index < value.upperBound, bytes[index] == .hash { return index }
        }
        while index < value.upperBound {
            if bytes[index] == .hash, index > value.lowerBound, bytes[index - 1].isEnvironmentSpace { return index }
            index += 1
        }
        return nil
    }

    /// Whether the comment after the value would have to go into the place of a byte-order mark.
    var isCommentInTheWay: Bool { hasByteOrderMark && valueEnd < statement.upperBound }

    /// The comment after the value as a separate line; empty when there is none. It is never indented, because Node 20 reads an
    /// indented number sign as the beginning of the next name.
    func comment(in bytes: [UInt8], before lineBreak: [UInt8]) -> [UInt8] {
        valueEnd < statement.upperBound ? bytes[valueEnd..<statement.upperBound] + lineBreak : []
    }

    /// The blanks before the statement.
    func indentation(in bytes: [UInt8]) -> Range<Int> {
        var start = statement.lowerBound
        while start > 0, bytes[start - 1].isEnvironmentSpace { start -= 1 }
        return start..<statement.lowerBound
    }

    /// The bytes before the name: `export` and the blanks after it, a byte-order mark, or nothing.
    func prefix(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes[statement.lowerBound..<nameStart]
    }

    /// The value without blanks and quotes around it. A comment after it is included, because some readers take it as
    /// part of the value.
    func unquotedValue(in bytes: [UInt8]) -> [UInt8] { Self.unquoted(bytes[valueStart..<statement.upperBound]) }

    /// The value without blanks and quotes around it, and without a comment after it.
    func uncommentedValue(in bytes: [UInt8]) -> [UInt8] { Self.unquoted(bytes[valueStart..<valueEnd]) }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var value = text.trimming(while: \.isEnvironmentSpace)
        if value.count >= 2, let quote = value.first, quote == value.last, quote.isQuote {
            let inner = value.dropFirst().dropLast()
            if !inner.contains(quote), !inner.contains(.backslash) { value = inner }
        }
        return Array(value)
    }
}
