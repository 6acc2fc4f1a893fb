internal import AppleClientSecret

/// The text of another program, as one decoding reads it: bytes, and for each the range of the original text that it comes from.
struct EchoDecoding {
    private(set) var bytes: [UInt8] = []
    private(set) var places: [Range<Int>] = []

    private init() {}

    /// The unchanged text.
    init(_ text: [UInt8]) {
        bytes = text
        places = text.indices.map { $0..<$0 + 1 }
    }

    private mutating func append(_ byte: UInt8, _ place: Range<Int>) {
        bytes.append(byte)
        places.append(place)
    }

    /// The text by each decoding of it.
    var decoded: [EchoDecoding] { (0..<4).map(decodedBase64) + [unescaped()].compactMap(\.self) }

    // MARK: Escapes

    /// The same without one level of the escapes of URLs and JSON; nil if there are none.
    private func unescaped() -> EchoDecoding? {
        var result = EchoDecoding()
        var index = 0
        while index < bytes.count {
            let (byte, length) = escape(at: index) ?? (bytes[index], 1)
            result.append(byte, places[index].lowerBound..<places[index + length - 1].upperBound)
            index += length
        }
        return result.bytes.count < bytes.count ? result : nil
    }

    /// The byte that an escape means, and the escape's length. Characters beyond ASCII, which no token has, are blanks.
    private func escape(at index: Int) -> (UInt8, Int)? {
        switch bytes[index] {
        case UInt8(ascii: "%"): return code(at: index + 1, 2).map { ($0, 3) }
        case UInt8(ascii: "\\"):
            guard index + 1 < bytes.count else { return nil }
            switch bytes[index + 1] {
            case UInt8(ascii: "u"): return code(at: index + 2, 4).map { ($0, 6) } ?? (UInt8(ascii: "u"), 2)
            case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return (0x20, 2)
            case let other: return (other, 2)
            }
        default: return nil
        }
    }

    /// The number of so many hexadecimal digits.
    private func code(at index: Int, _ count: Int) -> UInt8? {
        guard index + count <= bytes.count else { return nil }
        let digits = bytes[index..<index + count]
        guard digits.allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16).map { $0 < 0x80 ? UInt8($0) : 0x20 }
    }

    // MARK: Encodings

    /// The bytes that the text's characters of base64 and base64url encode, with any text between them.
    ///
    /// - Parameter phase: how many characters are left out at the beginning, because text before the encoded part counts too.
    func decodedBase64(phase: Int) -> EchoDecoding {
        var result = EchoDecoding()
        var (buffer, count, skipped) = (0, 0, 0)
        // The beginning of the characters that the buffer's bits come from.
        var start = 0
        for (byte, place) in zip(bytes, places) {
            guard let value = Base64.Alphabet.standard.value(of: byte) ?? Base64.Alphabet.url.value(of: byte) else {
                continue
            }
            guard skipped == phase else {
                skipped += 1
                continue
            }
            if count == 0 { start = place.lowerBound }
            buffer = (buffer << 6 | Int(value)) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            result.append(UInt8(truncatingIfNeeded: buffer >> count), start..<place.upperBound)
            start = place.lowerBound
        }
        return result
    }
}
