import AppleClientSecret
import Publishing
import Rotation
import Synchronization

/// Where the secrets' bytes lie while the core, which sees fingerprints only, decides what becomes of them.
///
/// Workers put secrets here when they mint or find them and take them when they write.
final class Shelf: Sendable {
    private let secrets = Mutex<[Fingerprint: Secret]>([:])

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

    /// `line` with every secret that lies here replaced by its fingerprint: what a hook prints goes to a log.
    func redacted(_ line: String) -> String {
        let bytes = Array(line.utf8)
        // No secret of ours is shorter than its signature alone.
        guard bytes.count >= 86 else { return Redaction.plain(line) }
        var result = bytes
        for secret in secrets.withLock({ Array($0.values) }) {
            let name = Array(secret.token.fingerprint.description.utf8)
            secret.token.withBytes { token in
                var index = 0
                while index + token.count <= result.count {
                    if result[index] == token[0], result[index..<index + token.count].elementsEqual(token) {
                        result.replaceSubrange(index..<index + token.count, with: name)
                        index += name.count
                    } else {
                        index += 1
                    }
                }
            }
        }
        return Redaction.plain(String(decoding: result, as: UTF8.self))
    }
}
