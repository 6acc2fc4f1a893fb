/// Hexadecimal digits (RFC 4648, section 8): written small, two for each byte, the most significant first.
package enum Hex {
    /// The digits of all bytes.
    ///
    /// - Parameter capitals: whether to write `A` to `F`.
    package static func encode(_ bytes: some Sequence<UInt8>, capitals: Bool = false) -> String {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: capitals ? "A" : "a") + value - 10
        }
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// All digits of the number's type, zeros in front included: 16 of a `UInt64`.
    package static func encode(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: number.bitWidth / 4 - digits.utf8.count) + digits
    }

    /// The number with these digits; nil unless they are all digits of its type, as ``encode(_:)`` writes them.
    ///
    /// - Parameter capitals: whether `A` to `F` are taken too.
    package static func decode<Number: FixedWidthInteger & UnsignedInteger>(
        _ digits: some Collection<UInt8>, capitals: Bool = false
    ) -> Number? {
        guard digits.count == Number.bitWidth / 4 else { return nil }
        var number: Number = 0
        for digit in digits {
            guard let value = value(of: digit), capitals || !digit.isASCIICapital else { return nil }
            number = number << 4 | Number(value)
        }
        return number
    }

    /// The value of a digit, in either case; nil for any other byte.
    package static func value(of digit: UInt8) -> UInt8? {
        if digit.isASCIIDigit { return digit - UInt8(ascii: "0") }
        let value = digit.asciiLowercased &- UInt8(ascii: "a")
        return value < 6 ? value + 10 : nil
    }

    /// Whether `text` is so many digits, as ``encode(_:capitals:)`` writes them.
    package static func isEncoded(_ text: String, digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { value(of: $0) != nil && !$0.isASCIICapital }
    }
}
