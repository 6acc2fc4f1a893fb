package import AppleClientSecret

/// A secret's public facts, without its bytes.
///
/// By reference: a plan passes it on far more often than it looks into it, and copying four texts each time is what took
/// most of that.
package struct SecretInfo: Hashable, Sendable {
    private let facts: Facts

    private final class Facts: Sendable {
        let fingerprint: Fingerprint
        let form: SecretForm
        let signer: KeyDigest?

        init(_ fingerprint: Fingerprint, _ form: SecretForm, _ signer: KeyDigest?) {
            self.fingerprint = fingerprint
            self.form = form
            self.signer = signer
        }
    }

    package init(fingerprint: Fingerprint, form: SecretForm, signer: KeyDigest?) {
        facts = Facts(fingerprint, form, signer)
    }

    /// A secret of the form that is minted here.
    package init(fingerprint: Fingerprint, claims: Claims, signer: KeyDigest?) {
        self.init(fingerprint: fingerprint, form: SecretForm(claims), signer: signer)
    }

    package var fingerprint: Fingerprint { facts.fingerprint }
    package var team: TeamID { facts.form.claims.issuer }
    package var keyID: KeyID { facts.form.claims.keyID }
    package var client: ClientID { facts.form.claims.subject }
    package var issuedAt: WallTime { facts.form.claims.issuedAt }
    package var expiresAt: WallTime { facts.form.claims.expiresAt }
    /// The key of ours that signed it; nil when none did, or none that can be read now.
    package var signer: KeyDigest? { facts.signer }
    /// What the secret states.
    package var claims: Claims { facts.form.claims }
    /// What its form says, by which it is judged.
    var form: SecretForm { facts.form }

    package static func == (left: SecretInfo, right: SecretInfo) -> Bool {
        left.facts === right.facts
            || left.fingerprint == right.fingerprint && left.claims == right.claims && left.signer == right.signer
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
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
