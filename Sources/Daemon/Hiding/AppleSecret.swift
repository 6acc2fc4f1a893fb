import AppleClientSecret

/// A client secret for Apple, whoever made it.
struct AppleSecret {
    let offset: Int
    let expiresAt: WallTime?

    /// At most eight are looked for: the bytes are other people's.
    static func all(in bytes: [UInt8]) -> [AppleSecret] {
        CompactJWS.candidates(in: bytes, upTo: CompactJWS.usualLength).prefix(8).compactMap { range in
            guard let stated = (try? CompactJWS(bytes[range]))?.stated,
                stated.audience.value?.contains(Claims.audience) == true
            else { return nil }
            return AppleSecret(offset: range.lowerBound, expiresAt: stated.expiresAt.value?.moment)
        }
    }
}
