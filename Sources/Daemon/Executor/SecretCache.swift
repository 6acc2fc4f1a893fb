import AppleClientSecret
import Linux
import Model
import Outputs

/// The bytes of the secrets, by fingerprint, because the core knows fingerprints only.
///
/// Workers put secrets in when they mint or find them, and read them when they write.
final class SecretCache: Sendable {
    private let secrets = QuietMutex<[Fingerprint: Secret]>([:])

    func put(_ secret: Secret) {
        secrets.withLock { $0[secret.issued.fingerprint] = secret }
    }

    func secret(_ fingerprint: Fingerprint) -> Secret? {
        secrets.withLock { $0[fingerprint] }
    }

    var all: [Fingerprint: Secret] { secrets.withLock { $0 } }

    var count: Int { secrets.withLock { $0.count } }

    /// Forgets all secrets but these.
    func keepOnly(_ fingerprints: Set<Fingerprint>) {
        secrets.withLock { $0 = $0.filter { fingerprints.contains($0.key) } }
    }
}
