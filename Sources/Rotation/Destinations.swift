import AppleClientSecret
internal import Failures

/// What each file was seen to hold, and what is to be written into it.
///
/// - A file is read back before it is judged, and again after every sign that it has changed; what a job read that began
///   before the sign does not count.
/// - One write serves all clients of a file: it waits until all of them are settled.
/// - What other programs do to a file (`Drift`) is repaired, but not for ever.
/// - An environment file that held other lines is never created again: an application would start with half of its
///   settings.
struct Destinations: Sendable {
    private var states: [AbsolutePath: State] = [:]

    struct State: Sendable {
        /// Nil until the file was read.
        fileprivate(set) var observed: FileObservation?
        /// The job that ``observed`` is from; nil while it does not count, and the file is to be read back first.
        fileprivate var observedBy: JobID?
        /// What jobs before this one read does not count.
        fileprivate var countsFrom: JobID
        fileprivate(set) var writtenAt: WallTime?
        /// Whether a write has failed since the file was last read: it may hold the old content or the new.
        fileprivate var isUncertain = false
        /// Whether the file held lines besides our variables when it last existed; also known here because the state
        /// directory may be unusable.
        fileprivate(set) var heldOtherLines = false
        /// Whether the file was written as one for a secret alone.
        fileprivate(set) var wasOwn = false
        /// Whether a change notice came during the last read: the next read then counts, since a file may never be
        /// quiet.
        fileprivate var isRestless = false
        fileprivate(set) var drift = Drift()

        /// Whether ``observed`` still counts.
        var isFresh: Bool { observedBy.map { $0 >= countsFrom } ?? false }

        /// Whether what was observed still says what the file holds, with the configured mode and group: after a write that
        /// failed it may hold the old content or the new.
        var isAsObserved: Bool { !isUncertain && observed?.isAsConfigured == true }

        /// Whether a slot held a secret when the file was last observed.
        func holds(_ secret: SecretInfo, in slot: Slot) -> Bool {
            isAsObserved && observed?.slots[slot]?.issued?.fingerprint == secret.fingerprint
        }

        /// Whether the file, when it was last observed, held all of these secrets.
        func holds(_ wanted: [Slot: SecretInfo]) -> Bool {
            isAsObserved && wanted.allSatisfy { holds($1, in: $0) }
        }
    }

    // MARK: What is

    var paths: some Collection<AbsolutePath> { states.keys }

    subscript(_ path: AbsolutePath) -> State? { states[path] }

    /// Whether what a file was seen to hold still counts.
    func isFresh(_ path: AbsolutePath) -> Bool { states[path]?.isFresh == true }

    /// Every secret that was seen in a file.
    var allSecrets: [SecretInfo] {
        states.values.flatMap { ($0.observed?.slots ?? [:]).values.compactMap(\.issued) }
    }

    /// Whether a file's content is known, or is being read again because it changed during the last observation: of a
    /// file that never rests that second result counts, and the next observation waits for the debounce.
    func isSeenSoon(_ path: AbsolutePath, whileRunning job: Job?) -> Bool {
        guard let file = states[path] else { return false }
        return file.isFresh || file.isRestless && job?.work.isObservation == true
    }

    // MARK: What happens

    mutating func adopt(_ index: Index, next: JobID) {
        for path in states.keys {
            states[path]?.observedBy = nil
            if index.specs[path]?.format.isShared == true { states[path]?.wasOwn = false }
        }
        states = index.specs.states(from: states, else: State(countsFrom: next))
    }

    mutating func notice(_ path: AbsolutePath, at now: Now) {
        states[path]?.drift.debounce(at: now.boot)
    }

    /// Has a file read again, also if a job before `next` is reading it now: that may have missed a change.
    mutating func readAgain(_ path: AbsolutePath, next: JobID) {
        states[path]?.countsFrom = next
    }

    /// Lets a contested file be written once without waiting: the user may just have stopped what changed it.
    mutating func ask(_ path: AbsolutePath) {
        states[path]?.drift.ask()
    }

    /// Records that an action had applications read a file.
    mutating func delivered(_ path: AbsolutePath, at now: Now) {
        states[path]?.drift.delivered(at: now.boot)
    }

    /// Records what a file was seen to hold.
    ///
    /// - Parameter isAsked: whether the job has observed the file as it is configured now. An observation by an older
    ///   configuration's slots and modes does not count.
    fileprivate mutating func see(_ observation: FileObservation, _ path: AbsolutePath, by job: JobID, isAsked: Bool) {
        guard var file = states[path] else { return }
        file.observed = observation
        file.isUncertain = false
        if observation.exists { file.heldOtherLines = observation.otherLines }
        file.isRestless = false
        file.observedBy = isAsked ? job : nil
        states[path] = file
    }

    /// Records that a job on a file has ended, whatever it found.
    fileprivate mutating func ended(_ job: Job, _ path: AbsolutePath) {
        if let file = states[path], job.id < file.countsFrom { states[path]?.isRestless = true }
    }

    fileprivate mutating func observed(
        _ path: AbsolutePath, isGood: Bool, wanted: [Slot: Fingerprint], began: BootTime, at now: Now
    ) {
        states[path]?.drift.see(isGood: isGood, wanted: wanted, began: began, at: now.boot)
    }

    /// Records that a file was written. Returns whether the actions have to run again because bad content was replaced.
    fileprivate mutating func wrote(
        _ secrets: [Slot: SecretInfo], _ path: AbsolutePath, isBeingRead: Bool, at now: Now
    ) -> Bool {
        guard var file = states[path] else { return false }
        file.writtenAt = now.wall
        file.wasOwn = secrets[.whole] != nil
        let wasPerhapsRead = file.drift.wrote(
            secrets.mapValues(\.fingerprint), isBeingRead: isBeingRead, at: now.boot)
        if !file.holds(secrets) { file.drift.undone(at: now.boot) }
        states[path] = file
        return wasPerhapsRead
    }

    fileprivate mutating func writeFailed(_ path: AbsolutePath) {
        states[path]?.isUncertain = true
    }

    /// The last observation says nothing about what the file holds now.
    fileprivate mutating func observationFailed(_ path: AbsolutePath, leavesNothingToRead: Bool) {
        states[path]?.observedBy = nil
        if leavesNothingToRead { states[path]?.observed?.slots = [:] }
    }

    func checkInvariants(_ index: Index, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(index.specs.keys) { broken.append("other files than are configured") }
        for (path, file) in states {
            if file.observedBy.map({ $0 >= next }) == true || file.countsFrom > next {
                broken.append("\(path) was observed by a job that never began")
            }
            if file.isFresh, file.observed == nil { broken.append("\(path) counts as read, and was not") }
        }
        return broken
    }
}

extension Rotation {
    // MARK: What is

    /// Has a key, source or file read again, also if a job is reading it now: that job may have missed a change.
    mutating func observeAgain(at resource: Resource) {
        switch resource {
        case .key(let name): keys.readAgain(name, next: jobs.next)
        case .file(let path): destinations.readAgain(path, next: jobs.next)
        case .source(let name):
            sources.readAgain(name, next: jobs.next)
            if index.subjects[name]?.entry.source?.path == nil { storeReading.readAgain(next: jobs.next) }
        case .store: storeReading.readAgain(next: jobs.next)
        case .configuration, .client, .verification, .record, .share, .rollout, .report, .fleet, .target, .action,
            .probe,
            .stateChangeAction, .state:
            return
        }
        // Clients that merely share the file wait for its content, too.
        touch(resource)
    }

    /// Whether a file's content counts until it is read again, so that a notice of a change, as of each write of ours,
    /// changes nothing for its clients.
    func isOnlyReadAgain(_ path: AbsolutePath) -> Bool {
        isGood(path) && destinations[path]?.drift.nextRepair == nil && jobs.attempts[.file(path)] == nil
    }

    /// Whether reading a file again has found what was known of it, so that nothing changes for its clients.
    func isStill(_ spec: FileSpec, _ result: Result<Outcome, Failure>) -> Bool {
        guard case .success(.observed(let observation)) = result else { return false }
        return isOnlyReadAgain(spec.path) && destinations[spec.path]?.observed == observation
            && index.specs[spec.path] == spec && jobs.lastFailure(of: .file(spec.path)) == nil
    }

    mutating func destinationFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch (job.work, result) {
        case (.observe(let spec), .success(.observed(let observation))):
            let before = destinations[spec.path]?.observed
            // A file that was created or removed may be writable now, however often a write failed.
            if before?.exists != observation.exists { jobs.resetBackoff(of: job.resource, to: now.boot) }
            if before == nil { judgeFirst(observation, of: spec, at: now) }
            see(observation, as: spec, by: job.id)
            let wanted = wantedSecrets(spec)
            let isGood = index.specs[spec.path] == spec && destinations[spec.path]?.holds(wanted) == true
            destinations.observed(
                spec.path, isGood: isGood, wanted: wanted.mapValues(\.fingerprint), began: job.startedAt, at: now)
        case (.observe(let spec), .failure(let failure)):
            destinations.observationFailed(
                spec.path, leavesNothingToRead: failure.code.traits.contains(.leavesNothingToRead))
        case (.publish(let spec, let secrets, _), .success(.published(let observation))):
            deliverNew(secrets, in: spec)
            see(observation, as: spec, by: job.id)
            let isBeingRead = spec.slots.values.contains { isDelivering($0) }
            if destinations.wrote(secrets, spec.path, isBeingRead: isBeingRead, at: now) {
                deliverAgain(to: spec.slots.values)
            }
            events.append(.published(spec.path, published(spec, secrets)))
        case (.publish(let spec, _, _), .failure): destinations.writeFailed(spec.path)
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Records that a job on a file has ended, whatever it found.
    mutating func endedOnFile(_ job: Job) {
        if case .file(let path) = job.resource { destinations.ended(job, path) }
    }

    private mutating func see(_ observation: FileObservation, as spec: FileSpec, by job: JobID) {
        for slot in observation.slots.values { clock.noteIssue(slot.issued) }
        destinations.see(observation, spec.path, by: job, isAsked: index.specs[spec.path] == spec)
    }

    /// At a file's first observation: if it lacks the wanted secret, applications may have read other content while no
    /// daemon ran, so their actions run again. A missing file, as after a reboot, cannot have been read. Nor is anything
    /// amiss with an earlier secret of the client's where its actions are still to run: the daemon ended before it wrote the
    /// new one.
    private mutating func judgeFirst(_ observation: FileObservation, of spec: FileSpec, at now: Now) {
        guard observation.exists else { return }
        let wanted = wantedSecrets(spec)
        let bad = spec.slots.filter { slot, _ in
            wanted[slot].map { observation.slots[slot]?.issued?.fingerprint != $0.fingerprint } == true
        }
        deliverAgain(
            to: bad.filter { slot, client in
                observation.slots[slot]?.issued.map { !isMerelyEarlier($0, client, at: now) } ?? true
            }.values)
    }

    /// Whether applications that have read this secret can go on with it until each action of theirs runs for the wanted
    /// one.
    private func isMerelyEarlier(_ secret: SecretInfo, _ client: ClientName, at now: Now) -> Bool {
        guard let subject = index.subjects[client], let wanted = wantedSecret(client) else { return false }
        return subject.names(secret) && subject.keys.contains { keys.print(of: $0.name) == secret.signer }
            && secret.expiresAt > now.wall
            && subject.actions.allSatisfy { delivery[client]?.delivered[$0]?.isSame(as: wanted) != true }
    }

    private func published(_ spec: FileSpec, _ secrets: [Slot: SecretInfo]) -> [ClientName: SecretInfo] {
        secrets.reduce(into: [:]) { all, entry in
            if let client = spec.slots[entry.key] { all[client] = entry.value }
        }
    }

    // MARK: What is wanted

    mutating func planFile(_ path: AbsolutePath, _ deadlines: inout Deadlines) {
        let index = index
        let clients = index.clients(of: path)
        guard destinations.isFresh(path) else {
            // A file can be judged only after its clients' keys and records were read.
            for client in clients {
                guard let subject = index.subjects[client], wereKeysAndRecordRead(subject) else { return }
            }
            if let spec = index.specs[path] { start(.observe(spec), on: .file(path), &deadlines) }
            return
        }
        guard let spec = index.specs[path], let file = destinations[path] else { return }
        if file.drift.wantsObservation(&deadlines) {
            start(.observe(spec), on: .file(path), &deadlines)
            return
        }
        // One write serves all clients of a file: wait for those about to get a new secret.
        for client in clients where !records.isSettled(client) { return }
        if holdsWanted(file, spec) {
            // Another program fixed the file, or nothing is to be written any more.
            recover(.file(path))
            // Perhaps only another client's secret was wrong in it: untried clients may now count as tried.
            for client in clients where readiness.isUntried(client) { scope.touch(clientAlone: client) }
            return
        }
        let wanted = wantedSecrets(spec)
        if !wanted.isEmpty, file.drift.mayWrite(wanted.mapValues(\.fingerprint), &deadlines) {
            start(.publish(spec, wanted, mayCreate: mayCreate(path)), on: .file(path), &deadlines)
        }
    }

    /// The secret that each slot of a file should hold; a slot whose client has none is left as it is.
    func wantedSecrets(_ spec: FileSpec) -> [Slot: SecretInfo] {
        var wanted: [Slot: SecretInfo] = [:]
        for (slot, client) in spec.slots { wanted[slot] = wantedSecret(client) }
        return wanted
    }

    /// Whether a file, as last observed, holds what it should.
    package func isGood(_ path: AbsolutePath) -> Bool {
        guard let spec = index.specs[path], let file = destinations[path] else { return false }
        return file.isFresh && holdsWanted(file, spec)
    }

    /// Whether a file, when it was last observed, held ``wantedSecrets(_:)``, without gathering them.
    private func holdsWanted(_ file: Destinations.State, _ spec: FileSpec) -> Bool {
        spec.slots.allSatisfy { slot, client in
            wantedSecret(client).map { file.holds($0, in: slot) } ?? file.isAsObserved
        }
    }

    /// Whether a file is bad and is left so for now, because another program keeps changing it.
    func isLeftAlone(_ path: AbsolutePath, at now: Now) -> Bool {
        guard let spec = index.specs[path], let file = destinations[path], file.isFresh else { return false }
        let wanted = wantedSecrets(spec)
        var deadlines = Deadlines(now: now)
        return !file.holds(wanted) && file.drift.isLeftAlone(wanted.mapValues(\.fingerprint), &deadlines)
    }

    /// Whether all files of a client hold its secret, by observations that still count.
    func isInPlace(_ client: ClientName) -> Bool {
        guard let subject = index.subjects[client], let wanted = wantedSecret(subject) else { return false }
        return subject.places.allSatisfy { [destinations] place in
            guard let file = destinations[place.path], file.isFresh else { return false }
            return place.slots.allSatisfy { file.holds(wanted, in: $0) }
        }
    }
}
