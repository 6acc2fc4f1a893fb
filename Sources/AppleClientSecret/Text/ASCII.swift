/// The classes of ASCII characters. They also work on the bytes of a text in UTF-8, because no byte of another character belongs
/// to any of them.
extension UInt8 {
    /// `0` to `9`.
    @inlinable package var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// `A` to `Z`.
    @inlinable package var isASCIICapital: Bool { self &- UInt8(ascii: "A") < 26 }

    /// `A` to `Z` and `a` to `z`.
    @inlinable package var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// A letter or a digit.
    @inlinable package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// A space or a tab.
    @inlinable package var isASCIIBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// A space, a tab, a line feed, a vertical tab, a form feed or a carriage return: isspace(3) in the C locale.
    @inlinable package var isASCIISpace: Bool { self == UInt8(ascii: " ") || self &- UInt8(ascii: "\t") < 5 }

    /// No control character: a space, or an ``isASCIIVisible`` byte.
    @inlinable package var isASCIIPrintable: Bool { self &- UInt8(ascii: " ") < 95 }

    /// A letter, a digit or a mark: `VCHAR` of RFC 5234, appendix B.1.
    @inlinable package var isASCIIVisible: Bool { self &- UInt8(ascii: "!") < 94 }

    /// A capital's small letter; any other byte itself.
    @inlinable package var asciiLowercased: UInt8 { isASCIICapital ? self | 0x20 : self }
}
