import AppleClientSecret

extension SecretInfo {
    /// Its place among the secrets of one key.
    package var precedence: Precedence {
        Precedence(issuedAt: issuedAt, digest: (name.signed ?? name.fingerprint).leadingBytes)
    }

    /// The order of secrets of one key: by `iat`, and within one second by the digest of the signed text.
    package struct Precedence: Hashable, Comparable, Sendable {
        private let issuedAt: WallTime
        private let digest: UInt64

        fileprivate init(issuedAt: WallTime, digest: UInt64) {
            self.issuedAt = issuedAt
            self.digest = digest
        }

        package static func < (left: Precedence, right: Precedence) -> Bool {
            (left.issuedAt, left.digest) < (right.issuedAt, right.digest)
        }
    }
}
