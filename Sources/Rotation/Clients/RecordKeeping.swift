import AppleClientSecret
import Model

/// A client's record in the state directory.
///
/// - It is read first, and again while that fails. Then it is written whenever it is not as wanted.
/// - Writes and reads by jobs before the state directory was lost do not count.
/// - Files and actions wait until the record names the current secret, or cannot be kept (``Rotation/isSettled(_:)``).
extension Rotation {
    mutating func recordFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard let client = job.resource.client.flatMap({ index[$0] }) else { return }
        switch (job.work, result) {
        case (.recall, .success(.recalled(let record))): recalled(record, client, by: job.id, at: now)
        // The attempt to keep it shows why the directory cannot be used.
        case (.recall, .success(.recalledUnkept(let record))): recalled(record, client, by: nil, at: now)
        case (.recall, .failure): clients[client].record.notRecalled()
        case (.keep, .success(.kept(let record))): clients[client].record.kept(record, by: job.id)
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Continues from a client's record.
    private mutating func recalled(_ record: Record, _ client: ConfiguredClient, by job: JobID?, at now: Now) {
        let isAdded = clients[client].isAdded
        let record = isAdded ? record.afterAbsence : record
        clients[client].record.recalled(record, by: isAdded ? nil : job)
        clients[client].secret.recall(record.current)
        if client.entry.source == nil { recallCandidate(record, client) }
        clock.noteIssue(clients[client].secret.current)
        clock.noteIssue(record.candidate)
        noteSigner(of: record, client, at: now)
        clients[client].deliveries.recall(record, next: jobs.next)
        targets.recall(record)
        files.recall(record, at: now)
        recallTurn(record, client, at: now)
        // The record of another store does not apply to this one. A record of an earlier version does not name its store.
        guard let store = configuration.store?.place, record.store ?? store == store else { return }
        if record.wasRolledOut, let place = record.current.flatMap(StorePlace.init(of:)) {
            admissions.noteRollout(at: place)
        }
        if client.entry.rollout != nil { fleet.known.recall(record.fleet, client.identity) }
    }

    mutating func planRecall(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        if !clients[client].record.wasRead {
            jobs.start(.recall(client.name, publishedAt: client.entry.places), on: .record(client.name), &timer)
        }
    }

    mutating func planRecord(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        let record = clients[client].record
        // A record that was not read is never overwritten: it may hold the only secret and the published places. While the
        // daemon stops, files are not read again, so their last seen content counts.
        guard record.wasRead, clients[client].secret.current != nil,
            isKnown(client) || jobs.isStopping && clients[client].secret.hasChosen
        else { return }
        noteDelivered(client)
        let resource = Resource.record(client.name)
        let wanted = wantedRecord(client)
        if record.holds(wanted, since: stateUpkeep.countsFrom) {
            // The record is as wanted, so an earlier failed write no longer matters.
            recover(resource)
        } else {
            jobs.start(.keep(client.name, wanted), on: resource, &timer)
        }
    }

    private func wantedRecord(_ client: ConfiguredClient) -> Record {
        let known = clients[client]
        var record = Record(current: known.secret.current)
        record.candidate = known.verification?.candidate
        record.refusal = known.verification?.refusal?.detail
        record.delivered = known.deliveries.delivered
        record.shared = sharedFiles(of: client)
        record.outputs = publishedPlaces(of: client)
        // The record does not keep that actions other than the client's own must run again.
        record.owed = Set(client.actions.filter { known.deliveries.owed[$0] != nil })
        record.failed = known.deliveries.failed.filter { client.actions.contains($0.key) }
        for path in client.files {
            if let file = files[path], !file.repairedAt.isEmpty { record.repairs[path] = file.repairedAt }
        }
        record.keyChange = keys[client.entry.key]?.change
        record.pushed = targets.known(of: client, \.pushed)
        record.shown = targets.known(of: client, \.lastShown)
        for output in client.targets {
            if let failure = jobs.attempts[.target(output.target)]?.failure {
                record.failing[output] = Record.PlaceFailure(failure.code, failure.detail)
            } else if targets[output.target]?.wasAsked != true {
                record.failing[output] = known.record.value.failing[output]
            }
        }
        // Kept no longer than needed: the write that records the last action's run removes it.
        if !owedActions(of: client).isEmpty { record.turn = known.turn?.wall }
        if let place = record.current.flatMap(StorePlace.init(of:)) {
            record.wasRolledOut = admissions.wasRolledOut(place)
        }
        if client.entry.rollout != nil { record.fleet = fleet.known.numbers(of: client.identity) }
        record.isRolloutHeld = isRolloutHeld(client)
        if record.wasRolledOut || !record.fleet.isEmpty || record.isRolloutHeld {
            record.store = configuration.store?.place
        }
        return record
    }

    /// For a client's record: the places where its secret is published. The daemon may overwrite these places. So a file with
    /// other content that it never wrote is left out, even if it also holds the secret. A file that could not be read since the
    /// start keeps its entry.
    private func publishedPlaces(of client: ConfiguredClient) -> Set<OutputPlace> {
        // A file that was written as a whole counts as one even while it is an environment file.
        let own = client.files.filter(isOwn).map { OutputPlace(path: $0, slot: .whole) }
        let recorded = clients[client].record.value.outputs
        return client.entry.places.filter { place in
            guard let observed = files[place.path]?.observed else { return recorded.contains(place) }
            guard place.slot == .whole else { return true }
            return !observed.exists || observed.slots[.whole]?.issued != nil && !observed.otherLines
        }.union(own)
    }

    /// Environment files that hold, or last held, lines other than our variables: those of a client, and those that were its own.
    private func sharedFiles(of client: ConfiguredClient) -> Set<AbsolutePath> {
        clients[client].record.value.shared.union(client.files).filter(files.shared.contains)
    }
}
