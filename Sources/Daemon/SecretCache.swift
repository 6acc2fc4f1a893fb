import AppleClientSecret
import Failures
import Keys
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

    var count: Int { secrets.withLock { $0.count } }

    /// Forgets all secrets but these.
    func keepOnly(_ fingerprints: Set<Fingerprint>) {
        secrets.withLock { $0 = $0.filter { fingerprints.contains($0.key) } }
    }

    /// `lines` with every cached secret replaced by its fingerprint, and without what else could be a secret or a key,
    /// because a hook's output is logged; nil for a line of which nothing is left.
    ///
    /// - Parameter isCut: whether the last line is not all that was printed.
    func redacted(_ lines: [String], isCut: Bool) -> [String?] {
        let known = secrets.withLock { $0 }
        let lengths = Set(known.values.map { $0.token.withBytes(\.count) })
        let filtered = PrintedSecrets(lines).replaced(lengths: lengths, isCut: isCut) { bytes in
            let fingerprint = Token(bytes).fingerprint
            return known[fingerprint] == nil ? nil : fingerprint.description
        }
        return Redaction.printed(lineByLine: filtered)
    }
}
