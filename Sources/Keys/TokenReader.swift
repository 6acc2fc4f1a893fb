package import AppleClientSecret
package import Rotation

/// Says of bytes that were found whether they are a client secret, and whose.
package enum TokenReader {
    /// What is known of the secret in `bytes`, its signer being the first of `keys` that verifies it; nil when the bytes
    /// are no secret of the form that is minted here (``CompactJWS/claims``). Blanks around it make it none.
    package static func read(_ bytes: [UInt8], keys: [PublicKey]) -> SecretInfo? {
        guard let jws = try? CompactJWS(bytes), let claims = jws.claims else { return nil }
        let signer = keys.first { $0.verifies(jws) }
        return SecretInfo(fingerprint: Token(bytes).fingerprint, claims: claims, signer: signer?.print)
    }

    /// The same of a token.
    package static func read(_ token: Token, keys: [PublicKey]) -> SecretInfo? {
        token.withBytes { read($0, keys: keys) }
    }
}
