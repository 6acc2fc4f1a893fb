/// Percent-encoding (RFC 3986, section 2.1), of the bytes of UTF-8.
package enum PercentCoding {
    /// The text with every other byte written as `%` and two digits, in capitals.
    ///
    /// - Parameter isKept: the bytes that are not encoded; `%` must not be one of them.
    package static func encode(_ text: String, keeping isKept: (UInt8) -> Bool = \.isUnreserved) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += "%\(Hex.encode(CollectionOfOne(byte), capitals: true))".utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The text with each character percent-encoded that has to be, in capitals, and no other one: both mean the same (section
    /// 6.2.2).
    package static func reduced(_ text: some Collection<UInt8>) -> String {
        var reduced: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value: UInt8 = Hex.decode(rest.prefix(2), capitals: true) else {
                reduced.append(byte)
                continue
            }
            reduced +=
                value.isUnreserved ? [value] : Array("%\(Hex.encode(CollectionOfOne(value), capitals: true))".utf8)
            rest = rest.dropFirst(2)
        }
        return String(decoding: reduced, as: UTF8.self)
    }

    /// The text that is written so; nil for a `%` without two hexadecimal digits behind it and for bytes that are not UTF-8.
    package static func decode(_ text: some Collection<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let value: UInt8 = Hex.decode(rest.prefix(2), capitals: true) else { return nil }
            decoded.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether this is a character that no address gives a meaning: a letter, a digit, `-`, `.`, `_` or `~` (RFC 3986,
    /// section 2.3).
    @inlinable package var isUnreserved: Bool { isASCIIAlphanumeric || "-._~".utf8.contains(self) }
}
