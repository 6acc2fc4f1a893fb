import AppleClientSecret
internal import Failures
package import Model

/// When files are read and written, and the results.
///
/// - A file is read back before it is judged, and again after every sign that it has changed. A job that began to read before
///   the sign does not count. A file that is never quiet is read too, so that its problem is known before it may be written.
/// - One write serves all clients of a file: it waits until all of them are settled.
/// - Changes by other programs to a file (`DriftRepairs`) are repaired, but not for ever.
/// - An environment file that held other lines is never created again: an application would start with half of its
///   settings.
/// - A file that another program has open for writing is not written for ten minutes: the rest of that program's content would
///   be lost. Only the job that writes can find that out.
extension Rotation {
    // MARK: Events

    /// Records a change notice.
    mutating func noticeFile(_ path: AbsolutePath, at now: Now) {
        files[path]?.notice(at: now)
        guard let attempts = jobs.attempts[.file(path)] else { return }
        // Other failed writes cause notices themselves.
        if attempts.wasObservation || attempts.failure.code.retry == .whenChanged {
            // Another program may change it all the time.
            jobs.retry(.file(path), within: 1, at: now)
        } else if attempts.failure.code == .changedMeanwhile {
            // Once the program that changed it has finished, there may be no further notice.
            jobs.retry(.file(path), within: 5, at: now)
        }
    }

    mutating func fileFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch (job.work, result) {
        case (.observe(let spec), .success(.observed(let observation))):
            // After a reload it is read again, by the new slots and mode.
            guard jobs.isCurrent(job) else { return }
            let before = files[spec.path]?.observed
            if before?.exists != observation.exists { jobs.retry(job.resource, at: now) }
            if before == nil { judgeFirst(observation, of: spec, at: now) }
            let wasChanged = before == nil && wasChangedBefore(observation, of: spec)
            see(observation, as: spec, by: job)
            let wanted = wantedSecrets(spec)
            if wasChanged { files[spec.path]?.drift.presume(wanted.mapValues(\.fingerprint)) }
            files[spec.path]?.judge(wanted, at: now.boot)
        case (.observe(let spec), .failure(let failure)):
            files.readFailed(failure, at: spec.path, next: jobs.next)
        case (.publish(let spec, let secrets, _, let overWriters), .success(.published(let observation))):
            repeatForNew(secrets, in: spec, at: now)
            see(observation, as: spec, by: job)
            let readers = spec.slots.values.compactMap { index[$0] }
            let isBeingRead = readers.contains { isDelivering($0) }
            if files[spec.path]?.wrote(secrets, isBeingRead: isBeingRead, at: now) == true {
                for client in readers { repeatActions(of: client, because: .wasInFile, at: now) }
            }
            events.append(.published(spec.path, published(spec, secrets)))
            if overWriters { events.append(.wroteOverWriter(spec.path)) }
        case (.publish(let spec, _, _, _), .failure(let failure)):
            files[spec.path]?.writeFailed(failure, at: now.boot)
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    private mutating func see(_ observation: FileObservation, as spec: FileSpec, by job: Job) {
        for slot in observation.slots.values { clock.noteIssue(slot.issued) }
        let former = files[spec.path]?.observed?.editFailures ?? [:]
        if files.see(observation, as: spec, by: job.id) {
            for client in index.all where clients[client].record.value.shared.contains(spec.path) { touch(client) }
        }
        guard jobs.isCurrent(job) else { return }
        for place in spec.slots.keys.map({ OutputPlace(path: spec.path, slot: $0) }).sorted() {
            guard let client = spec.slots[place.slot], former[place.slot] != observation.editFailures[place.slot]
            else { continue }
            if let failure = observation.editFailures[place.slot] {
                events.append(.failing(.client(client), failure, failures: 1, retryAt: nil))
            } else if let failure = former[place.slot] {
                events.append(.recovered(.client(client), failure))
            }
        }
    }

    /// At a file's first observation: if it does not have the wanted secret, applications may have read other content while no
    /// daemon ran, or have started without a file that was published before. A reboot empties directories such as /run, but
    /// applications start after the daemon.
    private mutating func judgeFirst(_ observation: FileObservation, of spec: FileSpec, at now: Now) {
        guard observation.exists || isRestart else { return }
        for (slot, name) in spec.slots {
            guard let client = index[name], let wanted = wantedSecret(client),
                observation.exists || wasPublished(slot, of: spec, for: client)
            else { continue }
            let held = observation.slots[slot]?.issued
            if held?.fingerprint != wanted.fingerprint {
                repeatActions(of: client, because: .foundInFile(held), at: now)
            }
        }
    }

    /// Whether other programs have changed a file while no daemon ran, or between single runs: the secrets that it is to hold were
    /// published there, and it holds something else.
    private func wasChangedBefore(_ observation: FileObservation, of spec: FileSpec) -> Bool {
        observation.exists
            && spec.slots.allSatisfy { slot, name in
                guard let client = index[name], let wanted = wantedSecret(client) else { return false }
                // A secret of ours may be newer than the record, which was not kept: then it becomes the current one.
                return wasPublished(slot, of: spec, for: client)
                    && clients[client].record.value.current?.isSame(as: wanted) == true
                    && observation.slots[slot]?.issued == nil
            }
    }

    private func wasPublished(_ slot: FileSlot, of spec: FileSpec, for client: ConfiguredClient) -> Bool {
        clients[client].record.value.outputs.contains(OutputPlace(path: spec.path, slot: slot))
    }

    /// Repeats actions that have delivered a secret which a file is now seen to hold for the first time.
    private mutating func repeatForNew(_ secrets: [FileSlot: SecretInfo], in spec: FileSpec, at now: Now) {
        guard let file = files[spec.path], file.drift.isNew(secrets.mapValues(\.fingerprint)) else { return }
        for (slot, issued) in secrets where file.observed?.slots[slot]?.issued?.fingerprint != issued.fingerprint {
            guard let client = spec.slots[slot].flatMap({ index[$0] }) else { continue }
            repeatActions(of: client, because: .cameToFile(issued), at: now)
        }
    }

    private func published(_ spec: FileSpec, _ secrets: [FileSlot: SecretInfo]) -> [ClientName: SecretInfo] {
        secrets.reduce(into: [:]) { all, entry in
            if let client = spec.slots[entry.key] { all[client] = entry.value }
        }
    }

    // MARK: Plan

    mutating func planFile(_ path: AbsolutePath, _ timer: inout WakeTimer) {
        guard let spec = index.specs[path], let file = files[path] else { return }
        // The read that is under way decides the next step.
        guard jobs[.file(path)]?.work.isObservation != true else { return }
        let clients = index.clients(of: .file(path))
        if file.reading.isDue(.output, &timer) {
            // A file can be judged only after its clients' keys and records were read.
            if clients.allSatisfy(wereKeysAndRecordRead), jobs.start(.observe(spec), on: .file(path), &timer) {
                files[path]?.reading.begin()
            }
            return
        }
        // One write serves all clients of a file: wait for those about to get a new secret.
        for client in clients where !isSettled(client) { return }
        let wanted = wantedSecrets(spec)
        if file.holds(wanted) {
            // Another program fixed the file, or there is nothing left to write. Its content may have been read before it was known
            // to be right.
            if !wanted.isEmpty, !file.reading.wasNoticed { files[path]?.judge(wanted, at: timer.now.boot) }
            recover(.file(path))
            return
        }
        if !wanted.isEmpty, file.drift.mayWrite(wanted.mapValues(\.fingerprint), &timer) {
            let overWriters = file.mayWriteOverWriters(&timer)
            jobs.start(
                .publish(spec, wanted, mayCreate: mayCreate(path), overWriters: overWriters), on: .file(path), &timer)
        }
    }

    /// The secret that each slot of a file should hold. A slot of a client without one stays unchanged. So does one that no
    /// edit could write into: it must keep no other client from its secret.
    func wantedSecrets(_ spec: FileSpec) -> [FileSlot: SecretInfo] {
        let doubtful = files[spec.path]?.observed?.editFailures ?? [:]
        var wanted: [FileSlot: SecretInfo] = [:]
        for (slot, client) in spec.slots where doubtful[slot] == nil {
            wanted[slot] = index[client].flatMap { wantedSecret($0) }
        }
        return wanted
    }

    /// Why the last seen content of a slot stays until another program changes the file; nil if it is to be written, or is
    /// good.
    func problem(in slot: FileSlot, of path: AbsolutePath, to wanted: SecretInfo?) -> Failure? {
        if let failure = lostLines(path) { return failure }
        guard let file = files[path], wanted.map({ file.holds($0, in: slot) }) != true else { return nil }
        return file.observed?.editFailures[slot]
    }

    /// The first such reason of each of a client's files.
    func outputProblems(of client: ConfiguredClient) -> [Failure] {
        let wanted = wantedSecret(client)
        return client.places.compactMap { firstProblem(in: $0, to: wanted) }
    }

    private func firstProblem(in place: ConfiguredClient.Place, to wanted: SecretInfo?) -> Failure? {
        for slot in place.slots {
            if let problem = problem(in: slot, of: place.path, to: wanted) { return problem }
        }
        return nil
    }

    /// Whether a file, as last observed, has the wanted content.
    package func isGood(_ path: AbsolutePath) -> Bool {
        guard let spec = index.specs[path], let file = files[path] else { return false }
        return file.isFresh && file.holds(wantedSecrets(spec))
    }

    /// Whether a file is bad and stays so for now, because another program keeps changing it.
    func isLeftAlone(_ path: AbsolutePath, at now: Now) -> Bool {
        guard let spec = index.specs[path], let file = files[path], file.isFresh else { return false }
        let wanted = wantedSecrets(spec)
        return !file.holds(wanted)
            && WakeTimer.peek(at: now) { file.drift.isLeftAlone(wanted.mapValues(\.fingerprint), &$0) }
    }

    /// Whether all files of a client hold its secret, by observations that still count.
    func isInPlace(_ client: ConfiguredClient) -> Bool {
        guard let wanted = wantedSecret(client) else { return false }
        return client.places.allSatisfy { place in
            guard let file = files[place.path], file.isFresh else { return false }
            return place.slots.allSatisfy { file.holds(wanted, in: $0) }
        }
    }

    /// The last seen content of a client's outputs, in the order of their paths. An output that was not read or is refused has
    /// none.
    func observedSlots(of client: ConfiguredClient) -> [(path: AbsolutePath, held: SlotObservation)] {
        client.places.flatMap { place in
            let file = files[place.path]
            let slots = file?.seen == nil ? file?.observed?.slots ?? [:] : [:]
            return place.slots.compactMap { slot in slots[slot].map { (place.path, $0) } }
        }
    }
}
