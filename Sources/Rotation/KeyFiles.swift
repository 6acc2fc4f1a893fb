import AppleClientSecret
package import Model

/// The known state of each key: which one its file holds, and whether it has become another one under the same key id.
///
/// - A key that was not read since the start, the last reload or the last sign of another key is read at once. After a change
///   notice, it is read once the writer has finished. Until then the last read counts.
/// - Another key under one id is reported for a day, and no longer once the former key is back.
struct KeyFiles: Sendable {
    private var all: [KeyName: KeyFile] = [:]

    subscript(_ name: KeyName) -> KeyFile? {
        _read { yield all[name] }
        _modify { yield &all[name] }
    }

    var names: some Collection<KeyName> { all.keys }

    /// Which key a file holds; nil while it cannot be used.
    func digest(of name: KeyName) -> KeyDigest? { all[name]?.reading.value }

    /// Whether reading it was tried since the start, the last reload or the last sign of another key.
    func isFresh(_ name: KeyName) -> Bool { all[name]?.reading.isFresh == true }

    mutating func adopt(_ configuration: Configuration, _ old: Configuration, next: JobID) {
        let former = all
        all = configuration.keys.reduce(into: [:]) { all, entry in
            let (name, new) = entry
            let before = old.keys[name]
            // The known key of an id is kept even if another file is now configured for it.
            let isSameID = before?.team == new.team && before?.keyID == new.keyID
            let value = before == new ? former[name]?.reading.value : nil
            all[name] = KeyFile(name, Reading(value, countsFrom: next), isSameID ? former[name] : nil)
        }
    }
}

/// The file of one key.
struct KeyFile: Sendable {
    private let name: KeyName
    /// Which key it holds; nil while it cannot be used.
    var reading: Reading<KeyDigest>
    /// The key last known to have the configured key id.
    private var known: KeyDigest?
    /// When and how ``known`` last became another one, however long ago.
    private(set) var change: KeyChange?

    /// - Parameter former: the known file of the same key id.
    init(_ name: KeyName, _ reading: Reading<KeyDigest>, _ former: KeyFile?) {
        self.name = name
        self.reading = reading
        known = former?.known
        change = former?.change
    }

    /// The change to another key within the last day; nil when there was none.
    func recentChange(_ timer: inout WakeTimer) -> KeyChange? {
        change.flatMap { timer.reached($0.at + KeyChange.reportedFor) ? nil : $0 }
    }

    /// Compares the key that was read with the one last known under the same id.
    mutating func compare(_ digest: KeyDigest, id: KeyID, at now: Now) -> LogEvent? {
        defer { known = digest }
        guard let known, known != digest else { return nil }
        return note(KeyChange(keyID: id, from: known, to: digest, at: now.wall))
    }

    /// Compares the key with the signer of the secret in a record, and adopts the change that was kept with it.
    mutating func compare(signer: KeyDigest, kept: KeyChange?, id: KeyID, at now: Now) -> LogEvent? {
        if let kept, kept.keyID == id { change = change ?? kept }
        guard let digest = reading.value else {
            known = known ?? signer
            return nil
        }
        return digest == signer ? nil : note(KeyChange(keyID: id, from: signer, to: digest, at: now.wall))
    }

    private mutating func note(_ new: KeyChange) -> LogEvent? {
        guard let former = change, new.at < former.at + KeyChange.reportedFor else {
            change = new
            return .keyChanged(name, new)
        }
        if new.to == former.to { return nil }
        if new.to == former.from {
            change = nil
            return .keyRestored(name, former)
        }
        // The key from before the first mistake is the one to restore, so it stays `from`.
        let whole = KeyChange(keyID: new.keyID, from: former.from, to: new.to, at: new.at)
        change = whole
        return .keyChanged(name, whole)
    }
}

/// Two names of one key, with different ids.
package struct SharedKey: Hashable, Sendable {
    package let name: KeyName
    package let entry: KeyConfiguration
    package let otherName: KeyName
    package let other: KeyConfiguration

    package init(_ name: KeyName, _ entry: KeyConfiguration, and otherName: KeyName, _ other: KeyConfiguration) {
        self.name = name
        self.entry = entry
        self.otherName = otherName
        self.other = other
    }

    /// The problem and its correction.
    package var words: String {
        "keys \"\(otherName)\" (team \(other.team), key id \(other.keyID)) and \"\(name)\" (team \(entry.team), key id "
            + "\(entry.keyID)) are one key; Apple gives each key to one team, with one id, and refuses all secrets with other "
            + "ids; correct the ids, or name the file of the other key"
    }
}

extension Rotation {
    /// The keys that have other ids than an earlier one with the same content, in the order of their names. The owner of a key of
    /// Apple Ads makes it and may use it for several accounts, so these are not compared.
    package var sharedKeys: [SharedKey] {
        var known: [KeyDigest: [KeyName]] = [:]
        return keys.names.sorted().compactMap { name in
            guard let entry = configuration.keys[name], entry.team.form != .searchAds,
                let digest = keys.digest(of: name)
            else { return nil }
            let others = known[digest] ?? []
            known[digest] = others + [name]
            for otherName in others {
                guard let other = configuration.keys[otherName] else { continue }
                if other.team != entry.team || other.keyID != entry.keyID {
                    return SharedKey(name, entry, and: otherName, other)
                }
            }
            return nil
        }
    }

    mutating func planKey(_ name: KeyName, _ timer: inout WakeTimer) {
        guard let entry = configuration.keys[name], keys[name]?.reading.isDue(.input, &timer) == true,
            jobs.start(.readKey(name, entry), on: .key(name), &timer)
        else { return }
        keys[name]?.reading.begin()
    }

    mutating func keyFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .readKey(let name, let entry) = job.work else { return }
        switch result {
        case .success(.key(let digest)):
            // A reload may have changed the entry while the file was being read.
            guard configuration.keys[name] == entry else { return }
            if keys.digest(of: name) != digest {
                storePolling.expectPlaces(at: now)
                // The secrets in the files were verified without this key.
                for client in index.clients(of: .key(name)) {
                    for path in client.files { observeAgain(at: .file(path)) }
                    observeAgain(at: .source(client.name))
                }
            }
            read(name, digest, as: entry, by: job.id)
            if let event = keys[name]?.compare(digest, id: entry.keyID, at: now) { events.append(event) }
        case .failure: read(name, nil, as: entry, by: job.id)
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// Records which key was read; nil for a read that failed.
    private mutating func read(_ name: KeyName, _ digest: KeyDigest?, as entry: KeyConfiguration, by job: JobID) {
        let former = keys.digest(of: name)
        keys[name]?.reading.end(digest, by: job)
        guard former != digest else { return }
        // Whether Apple refuses a secret depends on this key if it signed the secret or has the secret's ids. This includes a
        // secret of a client with another key.
        for client in index.all {
            let known = clients[client]
            let secrets =
                observedSlots(of: client).map(\.held.issued) + [known.secret.current, known.verification?.candidate]
            let isConcerned = secrets.contains { secret in
                guard let secret else { return false }
                return secret.signer.map { $0 == former || $0 == digest } == true
                    || secret.team == entry.team && secret.keyID == entry.keyID
            }
            if isConcerned { touch(client) }
        }
    }

    /// Compares the key of a client with the one that signed the secret kept in the state directory.
    mutating func noteSigner(of record: Record, _ client: ConfiguredClient, at now: Now) {
        guard let current = record.current, let signer = current.signer,
            client.entry.names(current, key: client.key), !client.key.isPublic
        else { return }
        let name = client.entry.key
        let before = keys[name]?.change
        let event = keys[name]?.compare(signer: signer, kept: record.keyChange, id: client.key.keyID, at: now)
        if let event { events.append(event) }
        if keys[name]?.change != before { touch(.key(name)) }
    }

    /// The failures that report all key changes of the last day.
    package func keyChanges(at now: Now) -> [Failure] {
        keys.names.sorted().compactMap { name in
            WakeTimer.peek(at: now) { keys[name]?.recentChange(&$0) }?.failure(of: name)
        }
    }
}
