/// Base64 (RFC 4648), strict: every value has one encoding, and nothing else is decoded.
package enum Base64 {
    /// The characters for 0 to 63.
    package struct Alphabet: Sendable {
        /// `+` and `/` for 62 and 63 (section 4).
        package static let standard = Alphabet("+/")
        /// `-` and `_` for 62 and 63 (section 5): base64url.
        package static let url = Alphabet("-_")

        fileprivate let characters: [UInt8]

        private init(_ marks: String) {
            characters = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + marks).utf8)
        }

        /// The value of a character; nil for one of no alphabet or of the other one.
        package func value(of character: UInt8) -> UInt8? {
            if character.isASCIICapital { return character - UInt8(ascii: "A") }
            if character.isASCIILetter { return character - UInt8(ascii: "a") + 26 }
            if character.isASCIIDigit { return character - UInt8(ascii: "0") + 52 }
            return character == characters[62] ? 62 : character == characters[63] ? 63 : nil
        }
    }

    /// The encoding in the standard alphabet, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = encode(bytes, in: .standard)
        return String(decoding: text, as: UTF8.self) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    /// The bytes that ``encode(_:)`` writes so; nil for any other text.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = text.utf8
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return decode(text.dropLast(padding), in: .standard)
    }

    /// The encoding without padding.
    package static func encode(_ bytes: [UInt8], in alphabet: Alphabet) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(length(ofBytes: bytes.count))
        var index = 0
        while index < bytes.count {
            let rest = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if rest > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if rest > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...rest {
                text.append(alphabet.characters[Int(group >> (18 - 6 * UInt32(position)) & 63)])
            }
            index += 3
        }
        return text
    }

    /// How many characters encode this many bytes, padding left out.
    package static func length(ofBytes count: Int) -> Int { (count * 4 + 2) / 3 }

    /// The bytes that `text`, which has no padding, encodes. Nil for a character outside the alphabet, an impossible length or
    /// unused bits that are not zero.
    package static func decode(_ text: some Collection<UInt8>, in alphabet: Alphabet) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for character in text {
            guard let value = alphabet.value(of: character) else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        return buffer == 0 ? bytes : nil
    }
}

/// base64url without padding, as RFC 7515, section 2, uses it.
public enum Base64URL {
    /// The encoding of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] { Base64.encode(bytes, in: .url) }

    /// The bytes that `text` encodes. Nil for a character outside the alphabet, padding, an impossible length or unused bits that
    /// are not zero. So every value has only one encoding.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { Base64.decode(text, in: .url) }
}

extension UInt8 {
    /// Whether this is one of the 64 characters of base64url (RFC 4648, section 5).
    @inlinable package var isBase64URL: Bool {
        isASCIIAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }

    /// Whether this is a character of a compact JWS (RFC 7515, section 7.1): no reader of any file takes one of these as
    /// syntax.
    @inlinable package var isTokenCharacter: Bool { isBase64URL || self == UInt8(ascii: ".") }
}
