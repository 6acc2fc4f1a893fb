import AppleClientSecret
import Linux
import Model
import Outputs

/// The bytes of the secrets, by fingerprint, because the core knows fingerprints only.
///
/// Workers put secrets in when they mint or find them, and read them when they write.
final class SecretCache: Sendable {
    private struct Contents {
        var entries: [Fingerprint: Entry] = [:]
        /// How often a secret was put in or read.
        var uses: UInt64 = 0
    }

    private struct Entry {
        let secret: Secret
        /// The number of its last use.
        let usedAt: UInt64
    }

    private let contents = QuietMutex(Contents())

    func put(_ secret: Secret) {
        contents.withLock {
            $0.uses += 1
            let entry = Entry(secret: secret, usedAt: $0.uses)
            $0.entries[secret.issued.fingerprint] = entry
        }
    }

    func secret(_ fingerprint: Fingerprint) -> Secret? {
        contents.withLock { contents in
            guard let secret = contents.entries[fingerprint]?.secret else { return nil }
            contents.uses += 1
            let entry = Entry(secret: secret, usedAt: contents.uses)
            contents.entries[fingerprint] = entry
            return secret
        }
    }

    var all: [Fingerprint: Secret] { contents.withLock { $0.entries.mapValues(\.secret) } }

    var count: Int { contents.withLock { $0.entries.count } }

    /// Forgets secrets that are not in use, once there are far more than the clients need.
    ///
    /// A job puts the secret that it minted or found here before the core knows of it. So while jobs run, the last used ones stay
    /// too. They are bounded in number, because a job may never end, and the owner of a file may write a new token every few
    /// seconds.
    ///
    /// - Parameters:
    ///   - clients: their number.
    ///   - isIdle: whether no job runs.
    ///   - inUse: the secrets that the core and its jobs have.
    func forgetUnused(clients: Int, isIdle: Bool, inUse: @autoclosure () -> Set<Fingerprint>) {
        let room = 4 * clients + 64
        guard count > (isIdle ? room : 2 * room) else { return }
        let kept = inUse()
        contents.withLock { contents in
            let unused = contents.entries.filter { !kept.contains($0.key) }
            let oldestFirst = unused.sorted { $0.value.usedAt < $1.value.usedAt }.map(\.key)
            for fingerprint in oldestFirst.dropLast(isIdle ? 0 : room) { contents.entries[fingerprint] = nil }
        }
    }
}
