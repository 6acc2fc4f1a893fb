/// A position in a text that is read byte by byte. Lines end as in libyaml: LF, CR, CR LF, NEL (U+0085), and the line
/// and paragraph separators (U+2028, U+2029).
struct TextPlace {
    /// From 1.
    private(set) var line = 1
    /// From 1, in characters.
    private(set) var column = 1
    private var last: (UInt8, UInt8) = (0, 0)

    mutating func pass(_ byte: UInt8) {
        switch (last.0, last.1, byte) {
        case (_, UInt8(ascii: "\r"), UInt8(ascii: "\n")): break
        case (_, _, UInt8(ascii: "\n")), (_, _, UInt8(ascii: "\r")), (_, 0xC2, 0x85), (0xE2, 0x80, 0xA8),
            (0xE2, 0x80, 0xA9):
            line += 1
            column = 1
        default:
            if byte & 0xC0 != 0x80 { column += 1 }
        }
        last = (last.1, byte)
    }
}
