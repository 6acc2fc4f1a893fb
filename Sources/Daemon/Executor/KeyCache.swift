import Failures
import Keys
import Linux
import Model

/// The signing keys as last read, and the public keys that the state directory keeps. The public keys distinguish a published
/// secret from a forged one while its key cannot be read.
final class KeyCache: Sendable {
    private struct Keys {
        var signing: [KeyName: SigningKey] = [:]
        var remembered: [KeyDigest: PublicKey] = [:]
        /// The configured keys; nil before a configuration was adopted.
        var entries: [KeyName: KeyConfiguration]?
        /// By credential: the key that was read first, and the entries that named the credential then, first the one that the
        /// key was read for.
        var passed: [String: (key: KeyDigest, entries: [KeyConfiguration])] = [:]
    }

    private let keys = QuietMutex(Keys())

    /// Takes a key that was read. One that a reload removed while it was being read is only remembered.
    func put(_ key: SigningKey, as name: KeyName) {
        keys.withLock { keys in
            if let entries = keys.entries, entries[name] == nil {
                keys.remembered[key.print] = key.publicKey
            } else {
                keys.signing[name] = key
            }
        }
    }

    /// That a credential still holds the key of other ids, which a reload has changed since: systemd passes credentials only at a
    /// start. Nil for anything else. The key must not sign under the new ids, for which Apple has another one.
    func objection(to key: KeyDigest, of entry: KeyConfiguration) -> Failure? {
        guard case .credential(let credential) = entry.location else { return nil }
        return keys.withLock { keys -> Failure? in
            guard let passed = keys.passed[credential], passed.key == key else {
                // One key may have several ids, such as those of Apple Ads.
                let others = (keys.entries ?? [:]).values.filter { $0.location == entry.location }
                keys.passed[credential] = (key, [entry] + others)
                return nil
            }
            // By the ids alone: the reload may also have given the entry another name.
            let isOfStart = passed.entries.contains { $0.team == entry.team && $0.keyID == entry.keyID }
            guard !isOfStart else { return nil }
            return Failure(
                .credentialMissing, at: .credential(credential),
                detail: "systemd passes credentials only at a start, and what it passed then is the key of "
                    + "\(passed.entries[0].keyID)",
                remedy: .run(.restart(), otherwise: "restart the daemon"))
        }
    }

    /// Forgets a key that can no longer be used: a key that was removed from the disk must not go on signing from memory.
    func remove(_ name: KeyName) {
        keys.withLock { $0.signing[name] = nil }
    }

    /// Forgets the private keys of all other names: a key that a reload removed must not stay in memory. Secrets that it has
    /// signed can still be verified.
    func keepOnly(_ entries: [KeyName: KeyConfiguration]) {
        keys.withLock { keys in
            keys.entries = entries
            for (name, key) in keys.signing where entries[name] == nil {
                keys.remembered[key.print] = key.publicKey
                keys.signing[name] = nil
            }
        }
    }

    /// Remembers the key in a DER SubjectPublicKeyInfo. Each is decoded once: that takes longer than verifying a signature,
    /// and ten thousand records may hold the same. Bytes that are no such key are ignored.
    func remember(spki: [UInt8]) {
        // Also a key that signs now: its file may be removed, and its signing key with it.
        if let print = PublicKey.digest(spki: spki), keys.withLock({ $0.remembered[print] != nil }) { return }
        guard let key = PublicKey(spki: spki) else { return }
        keys.withLock { $0.remembered[key.print] = key }
    }

    func signingKey(_ name: KeyName) -> SigningKey? {
        keys.withLock { $0.signing[name] }
    }

    /// Every public key that one of the daemon's secrets may verify with.
    var publicKeys: [PublicKey] {
        keys.withLock { keys in
            var all = keys.remembered
            for key in keys.signing.values { all[key.print] = key.publicKey }
            return Array(all.values)
        }
    }

    func publicKey(_ print: KeyDigest) -> PublicKey? {
        keys.withLock { keys in
            keys.remembered[print] ?? keys.signing.values.first { $0.print == print }?.publicKey
        }
    }
}
