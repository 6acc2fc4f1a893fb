/// The two forms of a P-256 signature. A JWS carries r and s as 32 big-endian bytes each (RFC 7518, section 3.4). libcrypto uses
/// the DER sequence of two integers (RFC 3279, section 2.2.3).
package struct ECDSASignature {
    /// In bytes: two integers of 33 bytes, each with a header of two, in a sequence with a header of two.
    package static let maximumDERLength = 72

    /// r and s, 32 bytes each.
    package let raw: [UInt8]

    /// The signature with these bytes; nil unless there are 64.
    package init?(raw: [UInt8]) {
        guard raw.count == CompactJWS.signatureLength else { return nil }
        self.raw = raw
    }

    /// The signature in this DER form; nil when it is not a P-256 one.
    package init?(der: [UInt8]) {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let first = Self.takeInteger(&rest), let second = Self.takeInteger(&rest), rest.isEmpty else {
            return nil
        }
        raw = first + second
    }

    package var der: [UInt8] {
        let body = Self.integer(raw[..<32]) + Self.integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    /// The same signature with the smaller of s and n−s, which are equally valid: a minted secret has this one form.
    package var withLowS: ECDSASignature {
        var borrow = 0
        var other = [UInt8](repeating: 0, count: 32)
        for index in (0..<32).reversed() {
            let difference = Int(Self.groupOrder[index]) - Int(raw[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            other[index] = UInt8(truncatingIfNeeded: difference)
        }
        guard other.lexicographicallyPrecedes(raw[32...]) else { return self }
        return ECDSASignature(raw: Array(raw[..<32]) + other) ?? self
    }

    /// The order n of P-256 (SEC 2, section 2.4.2), big-endian.
    private static let groupOrder: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]

    /// A positive INTEGER in as few bytes as possible, the first of them below 0x80.
    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        let needsZero = digits.first.map { $0 >= 0x80 } ?? true
        let value = (needsZero ? [0] : []) + digits
        return [0x02, UInt8(value.count)] + value
    }

    private static func takeInteger(_ der: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard der.count >= 2, der.removeFirst() == 0x02 else { return nil }
        let length = Int(der.removeFirst())
        guard length > 0, length <= der.count else { return nil }
        let digits = der.prefix(length).drop { $0 == 0 }
        der.removeFirst(length)
        guard digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}

extension CompactJWS {
    /// Whether the signature has the DER form, which Apple refuses.
    var isSignedInDER: Bool { ECDSASignature(der: signature) != nil }
}
