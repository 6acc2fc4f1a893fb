package import AppleClientSecret
import Digest
package import Keys

/// A client secret for Apple in other people's bytes, from any source, and whether Apple accepts it or not.
package struct ForeignSecret {
    /// The offset of its first byte.
    package let offset: Int
    /// Its claims; unchecked.
    package let stated: Statement
    package let fingerprint: Fingerprint
    private let jws: CompactJWS

    package var expiresAt: WallTime? { stated.expiresAt.value?.moment }

    /// Nil unless the bytes are a token whose audience is Apple, or one of a kind that states none.
    package init?(_ token: some Collection<UInt8>, at offset: Int = 0) {
        let bytes = Array(token)
        guard let jws = try? CompactJWS(bytes), case let stated = jws.stated,
            stated.audience.value?.contains(Claims.audience) == true || !stated.kind.hasClient
        else { return nil }
        self.offset = offset
        self.stated = stated
        self.jws = jws
        fingerprint = Token(bytes).fingerprint
    }

    /// Whether one of these keys signed it.
    package func isSigned(by keys: [PublicKey]) -> Bool { keys.contains { $0.verifies(jws) } }

    /// At most eight are looked for: the bytes are other people's.
    package static func all(in bytes: [UInt8]) -> [ForeignSecret] {
        CompactJWS.candidates(in: bytes, upTo: CompactJWS.usualLength).prefix(8).compactMap { range in
            ForeignSecret(bytes[range], at: range.lowerBound)
        }
    }
}
