/// White space outside ASCII as readers know it, and which of it ends a line.
enum UnicodeBlanks {
    case none
    /// `\s` of Python's regular expressions.
    case python
    /// The same if a line ends as it does for Python's `str.splitlines`.
    case pythonLines
    /// `\s` of JavaScript's regular expressions; a line ends at U+2028 and U+2029.
    case javaScript
    /// `unicode.IsSpace` of Go.
    case go

    /// The bytes with blanks for these characters, ending in a line feed for one that ends a line, so that all offsets stay.
    func replaced(in bytes: [UInt8]) -> [UInt8] {
        guard self != .none, hasAny(bytes) else { return bytes }
        var replaced = bytes
        var index = 0
        while index < bytes.count {
            guard let (length, scalar) = Self.scalar(in: bytes, at: index) else {
                index += 1
                continue
            }
            if let blank = blank(for: scalar) {
                for offset in index..<(index + length) { replaced[offset] = .tab }
                replaced[index + length - 1] = blank
            }
            index += length
        }
        return replaced
    }

    /// Whether the bytes may hold such a character.
    func hasAny(_ bytes: [UInt8]) -> Bool {
        bytes.contains { (0xC2...0xEF).contains($0) || $0 == 11 || $0 == 12 || (28...31).contains($0) }
    }

    private func blank(for scalar: UInt32) -> UInt8? {
        let endsLine: Bool
        switch scalar {
        case 11, 12: return self == .pythonLines ? .lineFeed : nil
        case 28...31 where self == .python || self == .pythonLines: endsLine = scalar < 31
        case 0x85 where self != .javaScript: endsLine = true
        case 0x2028, 0x2029: return self == .python || self == .go ? .tab : .lineFeed
        case 0xFEFF: return self == .javaScript ? .tab : nil
        case 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: endsLine = false
        default: return nil
        }
        return endsLine && self == .pythonLines ? .lineFeed : .tab
    }

    /// A character of at most three bytes, as all of these are; nil if none begins.
    private static func scalar(in bytes: [UInt8], at index: Int) -> (length: Int, scalar: UInt32)? {
        let first = UInt32(bytes[index])
        switch first {
        case 0..<0x80: return (1, first)
        case 0xC2..<0xE0 where index + 1 < bytes.count:
            return (2, (first & 0x1F) << 6 | UInt32(bytes[index + 1] & 0x3F))
        case 0xE0..<0xF0 where index + 2 < bytes.count:
            return (3, (first & 0x0F) << 12 | UInt32(bytes[index + 1] & 0x3F) << 6 | UInt32(bytes[index + 2] & 0x3F))
        default: return nil
        }
    }
}
