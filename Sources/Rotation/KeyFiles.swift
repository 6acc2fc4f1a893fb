import AppleClientSecret
package import Model

/// What is known of each key: which one its file holds, and whether it has become another one under the same key id.
///
/// - A key that was not read since the start, the last reload or the last sign of another key is read at once; after a
///   change notice, once the writer has finished. What was read before counts until then.
/// - Another key under one id is reported for a day, and no longer once the key from before is back.
struct KeyFiles: Sendable {
    private var states: [KeyName: State] = [:]

    private struct State: Sendable {
        /// Which key the file holds; nil while it cannot be used.
        var reading: Reading<KeyDigest>
        /// The key last known to have the configured key id.
        var known: KeyDigest?
        /// When and how ``known`` last became another one.
        var change: KeyChange?
    }

    // MARK: What is

    var names: some Collection<KeyName> { states.keys }

    /// Which key the file holds; nil while it cannot be used.
    func digest(of name: KeyName) -> KeyDigest? { states[name]?.reading.value }

    /// Whether reading it was tried since the start, the last reload or the last sign of another key.
    func isFresh(_ name: KeyName) -> Bool { states[name]?.reading.isFresh == true }

    /// Whether the file has changed since the last read of it began.
    func wasNoticed(_ name: KeyName) -> Bool { states[name]?.reading.wasNoticed == true }

    /// The last change to another key, however long ago.
    func lastChange(of name: KeyName) -> KeyChange? { states[name]?.change }

    /// The change to another key within the last day; nil when there was none.
    func change(of name: KeyName, _ deadlines: inout Deadlines) -> KeyChange? {
        guard let change = states[name]?.change, !deadlines.reached(change.at + KeyChange.reportedFor) else {
            return nil
        }
        return change
    }

    // MARK: What happens

    mutating func adopt(_ configuration: Configuration, _ old: Configuration, next: JobID) {
        states = configuration.keys.reduce(into: [:]) { keys, entry in
            let before = states[entry.key]
            var key = State(
                reading: Reading(
                    old.keys[entry.key] == entry.value ? before?.reading.value : nil,
                    // A job that was started before the file changed may find the former key.
                    countsFrom: before.map { $0.reading.wasNoticed ? next : $0.reading.countsFrom } ?? next))
            // Kept even if another file is now configured for the same id.
            if let former = old.keys[entry.key], former.team == entry.value.team, former.keyID == entry.value.keyID {
                key.known = before?.known
                key.change = before?.change
            }
            keys[entry.key] = key
        }
    }

    mutating func notice(_ name: KeyName, at now: Now) { states[name]?.reading.notice(at: now) }

    /// Has the file read again, even if a job before `next` is reading it now: that may have missed a change.
    mutating func readAgain(_ name: KeyName, next: JobID) { states[name]?.reading.readAgain(next: next) }

    /// Records which key was read; nil for a read that failed.
    mutating func read(_ name: KeyName, _ key: KeyDigest?, by job: JobID) {
        states[name]?.reading.end(key, by: job)
    }

    /// Whether to read the file now.
    func isDue(_ name: KeyName, _ deadlines: inout Deadlines) -> Bool {
        states[name]?.reading.isDue(&deadlines) == true
    }

    mutating func beginReading(_ name: KeyName) { states[name]?.reading.begin() }

    // MARK: Another key under one id

    /// Compares the key that was read with the one last known under the same id.
    mutating func compare(_ name: KeyName, _ digest: KeyDigest, id: KeyID, at now: Now) -> LogEvent? {
        defer { states[name]?.known = digest }
        guard let known = states[name]?.known, known != digest else { return nil }
        return change(name, KeyChange(keyID: id, from: known, to: digest, at: now.wall))
    }

    /// Compares the key with the one that signed the secret in a record, and takes the change that was kept with it.
    mutating func compare(
        _ name: KeyName, signer: KeyDigest, kept: KeyChange?, id: KeyID, at now: Now
    ) -> (event: LogEvent?, hasChanged: Bool) {
        guard let key = states[name] else { return (nil, false) }
        var hasChanged = false
        if let kept, kept.keyID == id, key.change == nil {
            states[name]?.change = kept
            hasChanged = true
        }
        if let digest = key.reading.value {
            guard digest != signer else { return (nil, hasChanged) }
            return (change(name, KeyChange(keyID: id, from: signer, to: digest, at: now.wall)), true)
        }
        if key.known == nil { states[name]?.known = signer }
        return (nil, hasChanged)
    }

    private mutating func change(_ name: KeyName, _ new: KeyChange) -> LogEvent? {
        guard let former = states[name]?.change, new.at < former.at + KeyChange.reportedFor else {
            states[name]?.change = new
            return .keyChanged(name, new)
        }
        if new.to == former.to { return nil }
        if new.to == former.from {
            states[name]?.change = nil
            return .keyRestored(name, former)
        }
        // The key from before the first mistake is the one to restore, so it stays `from`.
        let change = KeyChange(keyID: new.keyID, from: former.from, to: new.to, at: new.at)
        states[name]?.change = change
        return .keyChanged(name, change)
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.keys.keys) { broken.append("other keys than are configured") }
        for (name, key) in states {
            broken += key.reading.checkInvariants(next: next).map { "key \(name): \($0)" }
            if key.reading.value != nil, key.known == nil { broken.append("key \(name) was read and is not known") }
        }
        return broken
    }
}

extension Rotation {
    mutating func planKey(_ name: KeyName, _ deadlines: inout Deadlines) {
        guard let entry = configuration.keys[name], keys.isDue(name, &deadlines),
            start(.readKey(name, entry), on: .key(name), &deadlines)
        else { return }
        keys.beginReading(name)
    }

    mutating func keyFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .readKey(let name, let entry) = job.work else { return }
        switch result {
        case .success(.key(let digest)):
            // A reload may have changed the entry while the file was being read.
            guard configuration.keys[name] == entry else { return }
            if keys.digest(of: name) != digest {
                storeReading.expectPlaces(at: now)
                // The secrets in the files were verified without this key.
                for client in index.clients(of: name) {
                    for path in client.files { observeAgain(at: .file(path)) }
                    observeAgain(at: .source(client.name))
                }
            }
            keys.read(name, digest, by: job.id)
            let before = keys.lastChange(of: name)
            if let event = keys.compare(name, digest, id: entry.keyID, at: now) { events.append(event) }
            if keys.lastChange(of: name) != before { touch(.key(name)) }
        case .failure:
            keys.read(name, nil, by: job.id)
        case .success(let outcome):
            unexpected(outcome, of: job)
        }
    }

    /// Compares the key of a client with the one that signed the secret kept in the state directory.
    mutating func noteSigner(of record: Record, _ client: ConfiguredClient, at now: Now) {
        guard let current = record.current, let signer = current.signer,
            client.entry.names(current, key: client.key), !client.key.isPublic
        else { return }
        let name = client.entry.key
        let (event, hasChanged) = keys.compare(
            name, signer: signer, kept: record.keyChange, id: client.key.keyID, at: now)
        if let event { events.append(event) }
        if hasChanged { touch(.key(name)) }
    }

    /// The failures that report all key changes of the last day.
    package func keyChanges(at now: Now) -> [Failure] {
        keys.names.sorted().compactMap { name in
            Deadlines.peek(at: now) { keys.change(of: name, &$0) }?.failure(of: name)
        }
    }
}
