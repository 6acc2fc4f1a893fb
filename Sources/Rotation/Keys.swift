import AppleClientSecret
package import Model

/// What is known of each key: which one its file holds.
///
/// A key that was not read since the start, the last reload or the last sign of another key is read at once; after a
/// change notice, once the writer has finished. What was read before counts until then.
struct Keys: Sendable {
    private var states: [KeyName: State] = [:]

    private struct State: Sendable {
        /// Which key the file holds; nil while it cannot be used.
        var reading: Reading<KeyDigest>
        /// The change that was reported last, so that one that blocks a renewal for days is reported once.
        var reported: KeyChange?
    }

    // MARK: What is

    var names: some Collection<KeyName> { states.keys }

    func isConfigured(_ name: KeyName) -> Bool { states[name] != nil }

    /// Which key the file holds; nil while it cannot be used.
    func digest(of name: KeyName) -> KeyDigest? { states[name]?.reading.value }

    /// Whether reading it was tried since the start, the last reload or the last sign of another key.
    func wasRead(_ name: KeyName) -> Bool { states[name]?.reading.isFresh == true }

    /// Whether the file has changed since the last read of it began.
    func wasNoticed(_ name: KeyName) -> Bool { states[name]?.reading.wasNoticed == true }

    // MARK: What happens

    mutating func adopt(_ configuration: Configuration, _ old: Configuration, next: JobID) {
        states = configuration.keys.reduce(into: [:]) { keys, entry in
            let before = states[entry.key]
            keys[entry.key] = State(
                reading: Reading(
                    old.keys[entry.key] == entry.value ? before?.reading.value : nil,
                    countsFrom: before?.reading.countsFrom ?? next))
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

    /// Whether this change is to be reported: it was not the last one that was.
    mutating func report(_ change: KeyChange, of name: KeyName) -> Bool {
        guard states[name]?.reported != change else { return false }
        states[name]?.reported = change
        return true
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.keys.keys) { broken.append("other keys than are configured") }
        for (name, key) in states {
            broken += key.reading.checkInvariants(next: next).map { "key \(name): \($0)" }
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
        case .success(.key(let print)):
            // A reload may have changed the entry while the file was being read.
            guard configuration.keys[name] == entry else { return }
            let before = keys.digest(of: name)
            if before != print {
                // The secrets in the files were verified without this key.
                for client in index.clients(of: name) {
                    for path in client.files { observeAgain(at: .file(path)) }
                    observeAgain(at: .source(client.name))
                }
            }
            keys.read(name, print, by: job.id)
            if let before, before != print {
                report(KeyChange(keyID: entry.keyID, from: before, to: print), of: name)
            }
            // What was read before the start, or before the file could not be read, only a secret shows.
            for client in index.clients(of: name) { reportKeyChange(of: client) }
        case .failure:
            keys.read(name, nil, by: job.id)
        case .success(let outcome):
            unexpected(outcome, of: job)
        }
    }

    /// The key that has signed a client's secret, and the one that its file holds now under the same key id; nil where both
    /// are the same, or one of them is not known.
    func keyChange(of client: Subject) -> (key: KeyName, change: KeyChange)? {
        guard let current = clients[client].secret.current, let signer = current.signer else { return nil }
        for key in client.keys where !key.entry.isPublic && client.entry.names(current, key: key.entry) {
            guard let read = keys.digest(of: key.name), read != signer else { return nil }
            return (key.name, KeyChange(keyID: key.entry.keyID, from: signer, to: read))
        }
        return nil
    }

    /// Reports once that a key id stands for another key than the one that has signed a client's secret.
    mutating func reportKeyChange(of client: Subject) {
        if let (key, change) = keyChange(of: client) { report(change, of: key) }
    }

    private mutating func report(_ change: KeyChange, of key: KeyName) {
        if keys.report(change, of: key) { events.append(.keyChanged(key, change)) }
    }

    /// The failures that report all key changes.
    package var keyChanges: [Failure] {
        let changes = index.all.compactMap(keyChange)
        return Dictionary(changes.map { ($0.key, $0.change) }, uniquingKeysWith: { first, _ in first })
            .sorted { $0.key < $1.key }.map { $0.value.failure(of: $0.key) }
    }
}
