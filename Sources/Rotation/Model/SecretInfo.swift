package import AppleClientSecret

/// A secret's public facts, without its bytes.
package struct SecretInfo: Hashable, Sendable {
    package let fingerprint: Fingerprint
    package let team: TeamID
    package let keyID: KeyID
    package let client: ClientID
    package let issuedAt: WallTime
    package let expiresAt: WallTime
    /// The key of ours that signed it; nil when none did, or none that can be read now.
    package let signer: KeyDigest?

    package init(fingerprint: Fingerprint, claims: Claims, signer: KeyDigest?) {
        self.fingerprint = fingerprint
        team = claims.issuer
        keyID = claims.keyID
        client = claims.subject
        issuedAt = claims.issuedAt
        expiresAt = claims.expiresAt
        self.signer = signer
    }

    /// What the secret states.
    package var claims: Claims {
        Claims(issuer: team, keyID: keyID, subject: client, issuedAt: issuedAt, expiresAt: expiresAt)
    }
}

/// The SHA-256 digest of a key's public half (its DER SubjectPublicKeyInfo), in lower-case hexadecimal; shows whether a
/// key file still holds the same key.
package struct KeyDigest: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The digest written in `text`; nil unless it is 64 lower-case hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        // A string, because code for any text is several times as slow.
        let text = String(text)
        guard text.utf8.count == 64, text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
            return nil
        }
        description = text
    }
}
