package import AppleClientSecret

/// Another key than before was found under one key id. Apple never gives two keys one id, so it is more likely than not
/// a mistake: Apple then refuses the secrets that the wrong key signed, although every check here passes.
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
    static let reportedFor: Seconds = 86_400

    /// The failure that reports the change.
    package func failure(of key: KeyName) -> Failure {
        Failure(
            .keyChanged, at: .key(key), detail: "\(keyID) was \(from.fingerprint) and is \(to.fingerprint)")
    }
}

extension KeyDigest {
    /// The key's display name, formed as a secret's: the beginning of the digest.
    package var fingerprint: String { "sha256:" + description.prefix(16) }
}

extension Rotation {
    /// Records which key was read, and compares it with the one last known under the same id.
    mutating func noteKey(_ name: KeyName, _ print: KeyDigest, at now: Now) {
        if let known = world.keys[name]?.known, known != print { noteChange(of: name, from: known, to: print, at: now) }
        world.keys[name]?.known = print
    }

    /// Records which key signed the secret kept in the state directory, and the key change kept with it.
    mutating func noteSigner(of record: Record, _ client: ClientName, at now: Now) {
        guard let subject = world.index.subjects[client], let current = record.current, let signer = current.signer,
            subject.entry.names(current, key: subject.key)
        else { return }
        let name = subject.entry.key
        if let change = record.keyChange, change.keyID == subject.key.keyID, world.keys[name]?.change == nil {
            world.keys[name]?.change = change
            touch(.key(name))
        }
        if let print = world.keys[name]?.print {
            if print != signer { noteChange(of: name, from: signer, to: print, at: now) }
        } else if world.keys[name]?.known == nil {
            world.keys[name]?.known = signer
        }
    }

    private mutating func noteChange(of name: KeyName, from old: KeyDigest, to new: KeyDigest, at now: Now) {
        guard let entry = world.configuration.keys[name] else { return }
        touch(.key(name))
        guard let former = world.keys[name]?.change, now.wall < former.at + KeyChange.reportedFor else {
            return setChange(of: name, KeyChange(keyID: entry.keyID, from: old, to: new, at: now.wall))
        }
        if new == former.to { return }
        if new == former.from {
            world.keys[name]?.change = nil
            changes.append(.keyRestored(name, former))
        } else {
            // The key from before the first mistake is the one to restore, so it stays `from`.
            setChange(of: name, KeyChange(keyID: entry.keyID, from: former.from, to: new, at: now.wall))
        }
    }

    private mutating func setChange(of name: KeyName, _ change: KeyChange) {
        world.keys[name]?.change = change
        changes.append(.keyChanged(name, change))
    }

    /// The change of a key within the last day; nil when there was none.
    func change(of name: KeyName, _ deadlines: inout Deadlines) -> KeyChange? {
        guard let change = world.keys[name]?.change, !deadlines.reached(change.at + KeyChange.reportedFor) else {
            return nil
        }
        return change
    }

    /// The failures that report all key changes of the last day.
    package func keyChanges(at now: Now) -> [Failure] {
        var deadlines = Deadlines(now: now)
        return world.keys.keys.sorted().compactMap { name in change(of: name, &deadlines)?.failure(of: name) }
    }
}
