package import AppleClientSecret
internal import Failures

/// Another key than before was found under one key id. Apple never gives two keys one id, so it is probably a mistake. Apple
/// then refuses the secrets that the wrong key signed, although every check here passes.
package struct KeyChange: Hashable, Sendable {
    package let keyID: KeyID
    package let from: KeyDigest
    package let to: KeyDigest
    package let at: WallTime

    package init(keyID: KeyID, from: KeyDigest, to: KeyDigest, at: WallTime) {
        self.keyID = keyID
        self.from = from
        self.to = to
        self.at = at
    }

    /// How long a change is reported: one day.
    package static let reportedFor: Seconds = 86_400

    /// The failure that reports the change.
    package func failure(of key: KeyName) -> Failure {
        Failure(
            .keyChanged, at: .key(key), detail: "\(keyID) was \(from.fingerprint) and is \(to.fingerprint)")
    }
}
