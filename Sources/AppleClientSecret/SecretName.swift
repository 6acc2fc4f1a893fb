/// Identifies a secret in records, reports and rollouts, which do not check its signature.
package struct SecretName: Hashable, Sendable {
    /// Of the token's bytes, as `sha256sum` shows it for a raw output. People see this one.
    package let fingerprint: Fingerprint
    /// Of the signing input; nil if an older version has written the name.
    package let signed: Fingerprint?

    package init(_ fingerprint: Fingerprint, signed: Fingerprint? = nil) {
        self.fingerprint = fingerprint
        self.signed = signed
    }

    /// The fingerprint, and the digest of the signing input if that is known: two names of one secret share one of them.
    package var digests: [Fingerprint] { [fingerprint] + (signed.map { [$0] } ?? []) }

    /// Whether both are the same secret, even with different signatures.
    package func isSame(as other: SecretName) -> Bool {
        fingerprint == other.fingerprint || signed != nil && signed == other.signed
    }
}
