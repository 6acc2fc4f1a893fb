import AppleClientSecret
import Linux
import Publishing
import Rotation

/// Where the secrets' bytes lie while the core, which sees fingerprints only, decides what becomes of them.
///
/// Workers put secrets here when they mint or find them and take them when they write.
final class Shelf: Sendable {
    private let secrets = QuietMutex<[Fingerprint: Secret]>([:])

    func put(_ secret: Secret) {
        secrets.withLock { $0[secret.issued.fingerprint] = secret }
    }

    func secret(_ fingerprint: Fingerprint) -> Secret? {
        secrets.withLock { $0[fingerprint] }
    }

    var count: Int { secrets.withLock { $0.count } }

    /// Forgets all secrets but these.
    func keepOnly(_ fingerprints: Set<Fingerprint>) {
        secrets.withLock { $0 = $0.filter { fingerprints.contains($0.key) } }
    }

    /// `lines` with every secret that lies here, and every piece of one, replaced by its fingerprint, and without keys, of
    /// which the ring's are known in more guises than others: what a hook prints goes to a log.
    func redacted(_ lines: [String], keys: Keyring) -> [String] {
        var filter = SecretFilter(Redaction.withoutKeys(lines) { keys.hasPrivateKey($0) })
        if filter.isOfInterest {
            for secret in secrets.withLock({ Array($0.values) }) {
                secret.token.withBytes { filter.cover($0, as: secret.token.fingerprint.description) }
            }
        }
        return Redaction.printed(filter.filtered)
    }
}
