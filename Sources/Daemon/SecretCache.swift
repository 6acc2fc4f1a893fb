import AppleClientSecret
import Keys
import Linux
import Outputs
import Rotation

/// Where the secrets' bytes lie while the core, which sees fingerprints only, decides what becomes of them.
///
/// Workers put secrets here when they mint or find them and take them when they write.
final class SecretCache: Sendable {
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

    /// `lines` with every secret that lies here replaced by its fingerprint, and without what else could be a secret or a
    /// key: what a hook prints goes to a log.
    func redacted(_ lines: [String]) -> [String] {
        let known = secrets.withLock { $0 }
        let lengths = Set(known.values.map { $0.token.withBytes(\.count) })
        let filtered = SecretFilter(lines).filtered(lengths: lengths) { bytes in
            let fingerprint = Token(bytes).fingerprint
            return known[fingerprint] == nil ? nil : fingerprint.description
        }
        return Redaction.printed(filtered)
    }
}
