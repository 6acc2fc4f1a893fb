/// How each reader of environment files that is no shell finds the lines and their entries.
struct LineReader {
    /// The text, byte for byte, with a tab or a line feed for each character that the reader treats as one.
    let bytes: [UInt8]
    var index: Int
    var entries: [EnvironmentEntry] = []

    /// - Parameters:
    ///   - blanks: the characters beyond ASCII's white space that are blanks to the reader.
    ///   - skipsMark: whether the reader skips a byte-order mark; to the others it is part of the first line's text.
    init(_ bytes: [UInt8], blanks: UnicodeBlanks = .none, skipsMark: Bool = false) {
        self.bytes = blanks.replaced(in: bytes)
        index = skipsMark && bytes.starts(with: EnvironmentFile.byteOrderMark) ? EnvironmentFile.byteOrderMark.count : 0
    }

    // MARK: Bytes

    mutating func skip(while condition: (UInt8) -> Bool) {
        while index < bytes.count, condition(bytes[index]) { index += 1 }
    }

    mutating func skipBlanks() { skip { $0.isDotenvSpace && !$0.isLineBreak } }

    /// Skips `export` if white space follows, and that.
    mutating func skipExport(_ isSpace: (UInt8) -> Bool) {
        guard bytes[index...].starts(with: Self.export), index + 6 < bytes.count, isSpace(bytes[index + 6]) else {
            return
        }
        index += 6
        skip(while: isSpace)
    }

    func withoutExport(_ name: Range<Int>) -> Range<Int> {
        var lines = self
        lines.index = withoutMark(name).lowerBound
        lines.skipExport { $0 == .space || $0 == .tab }
        return min(lines.index, name.upperBound)..<name.upperBound
    }

    mutating func add(
        _ name: Range<Int>, _ range: Range<Int>, isSpace: (UInt8) -> Bool = \.isDotenvSpace
    ) {
        var name = name
        while let last = bytes[name].last, isSpace(last) { name = name.lowerBound..<(name.upperBound - 1) }
        entries.append(EnvironmentEntry(name: text(name), range: range))
    }

    /// `end` without the blanks and line breaks before it.
    func trimmed(_ end: Int, from start: Int) -> Int {
        var end = end
        while end > start, bytes[end - 1].isDotenvSpace { end -= 1 }
        return end
    }

    func first(_ byte: UInt8, from start: Int) -> Int? { bytes[start...].firstIndex(of: byte) }

    /// A name, without a byte-order mark before it: how readers differ about that is `EnvironmentFile`'s concern.
    func text(_ range: Range<Int>) -> [UInt8] { Array(bytes[withoutMark(range)]) }

    func withoutMark(_ range: Range<Int>) -> Range<Int> {
        guard range.lowerBound == 0, bytes[range].starts(with: EnvironmentFile.byteOrderMark) else { return range }
        return EnvironmentFile.byteOrderMark.count..<range.upperBound
    }

    func isText(_ range: Range<Int>) -> Bool { String(validating: bytes[range], as: UTF8.self) != nil }

    static let export = Array("export".utf8)
}
