import AppleClientSecret

/// What the state directory holds: a record for each client, and which outputs there were before.
///
/// - A client's record is read first, and kept whenever it is not as wanted; an empty one is never kept, because one
///   that could not be read may hold the only secret.
/// - What jobs wrote or read before the state directory was lost does not count.
/// - Files and actions wait until a client is settled: everything of it is known and no secret or record is under way.
struct Records: Sendable {
    private var states: [ClientName: State] = [:]
    /// What jobs before this one wrote to the state directory or read there may have been lost since.
    private(set) var countsFrom = JobID(number: 0)
    /// Whether an earlier configuration may have left records of removed clients.
    private var wantsTidying = false
    /// Whether the records were searched for former outputs that still hold a secret, and these were reported.
    private var areOrphansKnown = false
    /// Outputs that reloads removed, until it was checked whether they hold a secret.
    private var removedPlaces: Set<OutputPlace> = []

    private struct State: Sendable {
        /// Whether the state directory was asked for the record; until then nothing is decided.
        var wasRecalled = false
        /// Whether reading the record failed: it may still be needed.
        var wasNotAnswered = false
        /// What the state directory is known to hold of the client.
        var kept = Record()
        /// The job that wrote or read ``kept``.
        var keptBy = JobID(number: 0)
        var isSettled = false
    }

    // MARK: What is

    func wasRecalled(_ client: ClientName) -> Bool { states[client]?.wasRecalled == true }
    func wasNotAnswered(_ client: ClientName) -> Bool { states[client]?.wasNotAnswered == true }

    /// What the state directory is known to hold of a client.
    func kept(_ client: ClientName) -> Record? { states[client]?.kept }

    var allKept: some Sequence<Record> { states.values.lazy.map(\.kept) }

    /// Whether everything is known of a client and no secret or record is under way, so that its files and actions need
    /// not wait.
    func isSettled(_ client: ClientName) -> Bool { states[client]?.isSettled == true }

    /// Whether a record is as wanted and was not lost since.
    func holds(_ record: Record, _ client: ClientName) -> Bool {
        states[client].map { $0.kept == record && $0.keptBy >= countsFrom } ?? false
    }

    /// Whether a record says nothing new but what was delivered and how many machines report, for which neither files nor
    /// actions wait.
    func differsInDeliveries(_ record: Record, _ client: ClientName) -> Bool {
        guard var known = states[client]?.kept else { return false }
        (known.delivered, known.owed, known.turn) = (record.delivered, record.owed, record.turn)
        known.fleetSize = record.fleetSize
        return known == record
    }

    // MARK: What happens

    mutating func adopt(_ index: Index, _ old: Configuration) {
        states = index.subjects.states(from: states, else: State())
        wantsTidying = true
        areOrphansKnown = false
        removedPlaces.formUnion(old.places)
        if !removedPlaces.isEmpty { removedPlaces.subtract(index.places) }
    }

    /// The state directory's content may be gone: everything must be written to it again.
    mutating func lose(next: JobID) {
        countsFrom = next
    }

    mutating func recalled(_ record: Record, _ client: ClientName, by job: JobID) {
        guard let state = states[client] else { return }
        states[client] = State(wasRecalled: true, kept: record, keptBy: job, isSettled: state.isSettled)
    }

    mutating func wasNotRecalled(_ client: ClientName) {
        states[client]?.wasRecalled = true
        states[client]?.wasNotAnswered = true
    }

    mutating func kept(_ record: Record, _ client: ClientName, by job: JobID) {
        states[client]?.kept = record
        states[client]?.keptBy = job
    }

    /// Updates whether a client is settled; returns whether that has changed.
    mutating func settle(_ client: ClientName, _ isSettled: Bool) -> Bool {
        guard let state = states[client], state.isSettled != isSettled else { return false }
        states[client]?.isSettled = isSettled
        return true
    }

    // MARK: Former clients and outputs

    var isTidyingDue: Bool { wantsTidying }

    /// Where secrets were published besides these places, as far as known in memory: the state directory adds those of
    /// removed clients.
    func formerPlaces(besides places: Set<OutputPlace>) -> Set<OutputPlace> {
        states.values.reduce(into: removedPlaces) { all, state in
            for place in state.kept.outputs where !places.contains(place) { all.insert(place) }
        }
    }

    mutating func beginTidying() {
        wantsTidying = false
    }

    mutating func tidyAgain() {
        wantsTidying = true
    }

    /// Records which former outputs were searched; returns whether all were.
    mutating func tidied(_ searched: Set<OutputPlace>) -> Bool {
        removedPlaces.subtract(searched)
        if !wantsTidying { areOrphansKnown = true }
        return !wantsTidying
    }

    /// The outputs that a client's record names; its former ones, too, until orphans among them were reported.
    func outputs(of client: Subject) -> Set<OutputPlace> {
        let places = client.outputPlaces
        guard !areOrphansKnown, let former = states[client.name]?.kept.outputs, !former.isSubset(of: places) else {
            return places
        }
        return places.union(former)
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.clients.keys) { broken.append("records of other clients") }
        for (name, state) in states {
            if !state.wasRecalled, state.isSettled, state.kept != Record() { broken.append("\(name) settled unread") }
            if state.keptBy >= next { broken.append("the record of \(name) was kept by a job that never began") }
        }
        if !removedPlaces.isDisjoint(with: configuration.places) { broken.append("an output counts as removed") }
        return broken
    }
}

extension Rotation {
    mutating func recordFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch (job.work, result) {
        case (.recall(let client), .success(.recalled(let record))):
            guard let subject = index.subjects[client] else { return }
            records.recalled(record, client, by: job.id)
            renewal.recall(record.current, client)
            if subject.entry.source == nil { verification.recall(record, client) }
            clock.noteIssue(renewal[client]?.current)
            noteSigner(of: record, client, at: now)
            delivery.recall(record, client, next: jobs.next)
            targets.recall(record)
            recallTurn(record, client, at: now)
            if subject.entry.rollout != nil { fleet.recall(record.fleetSize, identity(of: subject)) }
        case (.recall(let client), .failure): records.wasNotRecalled(client)
        case (.keep(let client, _), .success(.kept(let record))): records.kept(record, client, by: job.id)
        case (.tidyRecords(_, _, let former, _), .success(.tidied(let orphans))):
            tidied(orphans, lookedFor: former, at: now)
        case (.tidyRecords, .failure): records.tidyAgain()
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Takes from a client's record when it may deliver what it has received, and whether that was rolled out.
    private mutating func recallTurn(_ record: Record, _ client: ClientName, at now: Now) {
        if let turn = record.turn, let source = index.subjects[client]?.entry.source, !isOnce {
            deliveryTurns.recall(turn, client, within: source.deliverOver, at: now)
        }
        if index.hasStore, record.wasRolledOut, let place = record.current.flatMap(StorePlace.init(of:)) {
            admissions.recall(place)
        }
    }

    mutating func planRecall(_ client: ClientName, _ deadlines: inout Deadlines) {
        if !records.wasRecalled(client) { start(.recall(client), on: .record(client), &deadlines) }
    }

    /// Whether a client's record is being read for the first time: the client is planned when that ends, and until then its
    /// files wait.
    func isBeingRecalled(_ client: ClientName) -> Bool {
        !records.wasRecalled(client) && jobs.isBusy(.record(client))
    }

    mutating func planRecord(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard isKnown(client) else { return }
        guard renewal[name]?.current != nil else {
            // Keep no empty record: one that could not be read may hold the only secret, so read it again.
            if records.wasNotAnswered(name) { start(.recall(name), on: .record(name), &deadlines) }
            return
        }
        let wanted = wantedRecord(client)
        if records.holds(wanted, name) {
            // The record is as wanted, so a failure to keep another no longer matters.
            recover(.record(name))
        } else {
            start(.keep(name, wanted), on: .record(name), &deadlines)
        }
    }

    private func wantedRecord(_ client: Subject) -> Record {
        let delivery = delivery[client.name]
        let current = renewal[client.name]?.current
        return Record(
            current: current, candidate: verification.candidate(client.name),
            refusal: verification.refusal(of: client.name)?.detail, delivered: delivery?.delivered ?? [:],
            shared: sharedFiles(of: client), outputs: publishedPlaces(of: client),
            // That other actions than the client's own must run again is not kept.
            owed: delivery?.owed.isEmpty == false ? Set(client.actions.filter { delivery?.owed[$0] != nil }) : [],
            keyChange: keys.lastChange(of: client.entry.key), pushed: targets.pushed(of: client),
            // Not kept any longer than needed: the write that records the last action's run removes it.
            turn: client.actions.contains { owes(client.name, $0) } ? deliveryTurns.moment(of: client.name) : nil,
            wasRolledOut: index.hasStore
                && current.flatMap(StorePlace.init(of:)).map(admissions.wasRolledOut) == true,
            fleetSize: client.entry.rollout == nil ? 0 : fleet.size(of: identity(of: client)))
    }

    /// Where a client's secret is published, and former places. A file that holds something else, and was never written, is
    /// none of them: it is not overwritten, after a restart neither.
    private func publishedPlaces(of client: Subject) -> Set<OutputPlace> {
        let former = records.kept(client.name)?.outputs ?? []
        return records.outputs(of: client).filter { place in
            guard place.slot == .whole, !former.contains(place), let file = destinations[place.path], !file.wasOwn
            else {
                return true
            }
            guard let observed = file.observed else { return false }
            return !observed.exists || observed.slots[.whole]?.issued != nil
        }
    }

    /// Environment files of a client that hold, or last held, lines besides our variables.
    private func sharedFiles(of client: Subject) -> Set<AbsolutePath> {
        var shared: Set<AbsolutePath> = []
        for path in client.files {
            let held =
                if let file = destinations[path], file.observed?.exists == true {
                    file.heldOtherLines
                } else {
                    isDeleted(path) || records.kept(client.name)?.shared.contains(path) == true
                }
            if held { shared.insert(path) }
        }
        return shared
    }

    /// Updates whether a client is settled: its files and actions then have nothing more to wait for.
    mutating func settle(_ client: Subject) {
        let name = client.name
        guard let kept = records.kept(name) else { return }
        let isKept =
            kept.current == renewal[name]?.current || jobs.attempts[.record(name)] != nil
            || jobs.isOverdue(.record(name))
        if records.settle(name, isKept && isKnown(client) && !jobs.isBusy(.client(name))) {
            touch(filesAndActionsOf: client)
        }
    }

    /// Removes the records of clients that are no longer configured, half a year after the last of their secrets
    /// expired: an operator who rolls the configuration back sooner finds everything unchanged. The same job looks for
    /// former outputs that still hold a secret.
    mutating func planTidying(_ deadlines: inout Deadlines) {
        // A clock that is years ahead must not make records look old enough to remove.
        guard records.isTidyingDue, readiness.isReady, clock.failure == nil else { return }
        var waiting = deadlines
        let now = clock.mayBeAhead(&waiting) ? builtAt : deadlines.now.wall
        let work = Work.tidyRecords(
            keeping: Set(index.names), expiredBefore: now - Lifetime.appleLimit,
            former: records.formerPlaces(besides: index.places), outputs: index.places)
        if start(work, on: .state, &deadlines) { records.beginTidying() }
    }

    /// Records which former outputs hold a valid secret, and reports them.
    private mutating func tidied(_ orphans: [OrphanedOutput], lookedFor: Set<OutputPlace>, at now: Now) {
        let outputs = index.places
        let live = orphans.filter { orphan in
            // Meanwhile a reload may have made it an output again.
            !outputs.contains(orphan.place) && orphan.expiresAt.map { now.wall < $0 } != false
        }
        events += live.map(LogEvent.orphaned)
        answers.report(orphaned: live)
        guard records.tidied(lookedFor) else { return }
        for name in index.names where records.kept(name)?.outputs != index.subjects[name]?.outputPlaces {
            touch(.record(name))
        }
    }
}
