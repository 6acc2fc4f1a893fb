package import AppleClientSecret

/// A secret's public facts, without its bytes.
///
/// Held by reference: a plan copies secrets far more often than it reads them, and copying their four texts took most of a
/// plan's time.
package struct SecretInfo: Hashable, Sendable {
    private let facts: Facts

    private final class Facts: Sendable {
        let name: SecretName
        let form: SecretForm
        let signer: KeyDigest?

        init(_ name: SecretName, _ form: SecretForm, _ signer: KeyDigest?) {
            self.name = name
            self.form = form
            self.signer = signer
        }
    }

    /// - Parameter name: that of a token; ``isSame(as:)`` and the order of secrets depend on it.
    package init(_ name: SecretName, form: SecretForm, signer: KeyDigest?) {
        facts = Facts(name, form, signer)
    }

    /// A secret of the form that is minted here.
    package init(_ name: SecretName, claims: Claims, signer: KeyDigest?) {
        self.init(name, form: SecretForm(claims), signer: signer)
    }

    /// A secret of which no more than its fingerprint is known.
    package init(fingerprint: Fingerprint, claims: Claims, signer: KeyDigest?) {
        self.init(SecretName(fingerprint), claims: claims, signer: signer)
    }

    package var fingerprint: Fingerprint { facts.name.fingerprint }
    package var name: SecretName { facts.name }
    package var team: TeamID { facts.form.claims.issuer }
    package var keyID: KeyID { facts.form.claims.keyID }
    package var client: ClientID { facts.form.claims.subject }
    package var issuedAt: WallTime { facts.form.claims.issuedAt }
    /// When it was minted, by the clock of the machine that minted it: `iat` is dated back.
    package var mintedAt: WallTime { issuedAt + Claims.backdating }
    package var expiresAt: WallTime { facts.form.claims.expiresAt }
    /// The configured key that signed it; nil when none did, or none that can be read now.
    package var signer: KeyDigest? { facts.signer }
    /// The claims that the secret states.
    package var claims: Claims { facts.form.claims }
    /// The facts of its form, by which it is judged.
    package var form: SecretForm { facts.form }

    /// Whether both are the same secret: the same bytes, or the same signing input with a valid signature of one key. Bytes
    /// that differ only in the signature prove nothing unless both signatures were checked.
    package func isSame(as other: SecretInfo) -> Bool {
        fingerprint == other.fingerprint || signer != nil && signer == other.signer && name.isSame(as: other.name)
    }

    package static func == (left: SecretInfo, right: SecretInfo) -> Bool {
        left.facts === right.facts
            || left.isSame(as: right) && left.claims == right.claims && left.signer == right.signer
    }

    package func hash(into hasher: inout Hasher) {
        // Not the name: two names may be those of one secret.
        hasher.combine(issuedAt)
        hasher.combine(expiresAt)
    }
}

extension Sequence<SecretInfo> {
    /// The one that expires first; nil if there is none.
    package var firstToExpire: SecretInfo? { self.min { $0.expiresAt < $1.expiresAt } }
}
