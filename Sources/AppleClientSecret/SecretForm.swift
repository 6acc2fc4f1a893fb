/// The content of a token in a form that Apple accepts, and the one judgement of it: whether its client can use it, and why not.
///
/// Everything that accepts, keeps, refuses or explains a secret asks here, so that no two parts of the program disagree.
package struct SecretForm: Hashable, Sendable {
    package let claims: Claims
    /// `nbf` (RFC 7519, section 4.1.5); nil if there is none.
    package let notBefore: WallTime?
    /// Whether a time has a fraction, as Auth.js's generator writes it. Like `nbf`, Apple accepts it, and this package's secrets
    /// do not have it.
    package let hasFractionalTime: Bool

    /// The form of a secret with these claims that this package has minted.
    package init(_ claims: Claims) {
        self.init(claims: claims, notBefore: nil, hasFractionalTime: false)
    }

    fileprivate init(claims: Claims, notBefore: WallTime?, hasFractionalTime: Bool) {
        self.claims = claims
        self.notBefore = notBefore
        self.hasFractionalTime = hasFractionalTime
    }

    /// The required properties of a secret. Unknown properties are not required.
    package struct Expectation {
        /// Nil if it is not known.
        package var client: ClientID?
        /// The keys that may sign, in the order of preference; none if they are not known.
        package var keys: [Key]
        /// The ids of the key that has signed it; none if they are not known.
        package var signer: [Ids]

        package struct Ids: Hashable {
            package var team: TeamID
            package var keyID: KeyID

            package init(team: TeamID, keyID: KeyID) {
                self.team = team
                self.keyID = keyID
            }
        }

        package struct Key {
            package var team: TeamID
            package var keyID: KeyID
            package var signature: Signature

            package init(team: TeamID, keyID: KeyID, signature: Signature) {
                self.team = team
                self.keyID = keyID
                self.signature = signature
            }
        }

        /// Whether a key has signed the secret that is judged.
        package enum Signature: Hashable, Sendable {
            case valid
            /// Another known key has.
            case ofAnotherKey
            /// No known key has.
            case invalid
            case unchecked
        }

        package init(client: ClientID? = nil, keys: [Key] = [], signer: [Ids] = []) {
            self.client = client
            self.keys = keys
            self.signer = signer
        }
    }
}

extension CompactJWS {
    /// The content of a token in a form that Apple accepts; nil for any other one.
    package var form: SecretForm? {
        guard objections.isEmpty, let issuer = stated.issuer.value.flatMap({ TeamID($0) }),
            let keyID = stated.keyID.value.flatMap({ KeyID($0) }), let subject = stated.client,
            let issuedAt = stated.issuedAt.value?.moment, let expiresAt = stated.expiresAt.value?.moment
        else { return nil }
        let isFractional = [stated.issuedAt, stated.expiresAt].contains {
            if case .value(.fractional) = $0 { true } else { false }
        }
        return SecretForm(
            claims: Claims(
                issuer: issuer, keyID: keyID, subject: subject, issuedAt: issuedAt, expiresAt: expiresAt),
            notBefore: stated.notBefore.value?.moment, hasFractionalTime: isFractional)
    }
}
