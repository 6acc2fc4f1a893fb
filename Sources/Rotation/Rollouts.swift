import AppleClientSecret
internal import Failures

/// How far the secrets are rolled out that this machine puts into the store: which machines of the fleet may deliver them.
///
/// - A rollout is put in one transaction with its secret, and raised by comparison with what was last seen: any signer may
///   raise it, and none undoes what another one did.
/// - First the canaries are admitted, the machines of the lowest ``Rank``. When they have delivered, no other machine is
///   admitted for `pause`, measured by this machine's own monotonic clock. After that the others are admitted in steps, so
///   that no more than `at_once` are admitted and have not delivered; the last step admits all machines.
/// - A machine that reports nothing for `pause` after it was admitted is not waited for. While too few canaries have
///   delivered, the next machine becomes one.
/// - A failing canary holds the rollout, and so does more than one failing machine in twenty. A machine is failing that
///   reports the new secret, has not delivered it, and reports a failure of anything but the store.
/// - Progress is known from the machines' reports alone: while these cannot be read, or fewer than half of the machines
///   report that did before, no further machine is admitted.
/// - Where the rollout in the store is gone, unreadable or another secret's, it is put there again, once a minute at most.
/// - A client without `rollout` whose place has one admits everybody.
struct Rollouts: Sendable {
    private var states: [ClientName: State] = [:]

    fileprivate struct State: Hashable, Sendable {
        /// As it was last seen in the store, or put there.
        var rollout: Rollout
        /// Since when it has been in its state.
        var since: WallTime
        /// Up to which rank it was admitted when.
        var steps: [Step] = []
        /// When enough canaries were first seen to have delivered.
        var canariesAt: BootTime?
        /// When it was last put because it was not there.
        var repairedAt: BootTime?
        /// What somebody has asked for, and is not done yet.
        var order: RolloutOrder?
        /// How many machines are admitted of those that report, from 0 to 1.
        var share = 0.0
        /// Who keeps it from going on.
        var failing: [String] = []
        /// Who was admitted, has not delivered, and has given no sign of life for `pause`.
        var lost: Set<String> = []
        /// Of the machines that report: ten thousand of them are costly to compute.
        var ranks: [String: UInt64] = [:]
        /// The most machines that were seen to report at one time.
        var most = 0
    }

    fileprivate struct Step: Hashable, Sendable {
        let admitted: UInt64
        let at: BootTime
    }

    fileprivate static let repairPace: Seconds = 60

    mutating func adopt(_ configuration: Configuration, _ old: Configuration) {
        if configuration.store != old.store { self = Rollouts() }
        states = states.filter { configuration.store != nil && configuration.clients[$0.key]?.isSharing == true }
    }

    fileprivate subscript(_ client: ClientName) -> State? { states[client] }

    /// The clients whose rollouts are not finished.
    var unfinished: [ClientName] { states.filter { !$0.value.rollout.isFinished }.keys.sorted() }

    /// The clients whose rollouts depend on what the machines report, or say of some that they are silent.
    var watched: [ClientName] {
        states.filter { !$0.value.rollout.isFinished || !$0.value.lost.isEmpty }.keys.sorted()
    }

    /// The machines that the rollout of a client does not wait for any more.
    fileprivate func lost(_ client: ClientName) -> Set<String> { states[client]?.lost ?? [] }

    var isEmpty: Bool { states.isEmpty }

    /// Whether something depends on what the machines report now.
    var isGoing: Bool { states.values.contains { !$0.rollout.isFinished && $0.rollout.state == .going } }

    func isOrdered(_ client: ClientName) -> Bool { states[client]?.order != nil }

    mutating func order(_ order: RolloutOrder?, _ client: ClientName) { states[client]?.order = order }

    /// Records how far it is.
    fileprivate mutating func see(_ rollout: Rollout, _ client: ClientName, at now: Now) {
        guard var state = states[client], state.rollout.fingerprint == rollout.fingerprint else {
            var state = State(rollout: rollout, since: now.wall)
            state.steps = [Step(admitted: rollout.admitted, at: now.boot)]
            states[client] = state
            return
        }
        guard state.rollout != rollout else { return }
        if state.rollout.state != rollout.state || state.rollout.isFinished != rollout.isFinished {
            state.since = now.wall
            // After a resume the canaries' pause begins again, so that there is time to see whether they fail again.
            if rollout.state == .going { state.canariesAt = nil }
        }
        state.steps.removeAll { $0.admitted > rollout.admitted }
        if rollout.admitted > state.steps.last?.admitted ?? 0 || state.steps.isEmpty {
            state.steps.append(Step(admitted: rollout.admitted, at: now.boot))
        }
        state.rollout = rollout
        states[client] = state
    }

    fileprivate mutating func repair(_ client: ClientName, at now: Now) { states[client]?.repairedAt = now.boot }

    /// Decides whether a rollout that is under way is raised or held, and updates what is shown of it.
    ///
    /// - Parameter members: the machines that report the client.
    fileprivate mutating func next(
        _ client: ClientName, _ settings: RolloutSettings, _ members: [Fleet.Member], _ deadlines: inout Deadlines
    ) -> Rollout? {
        guard var state = states[client] else { return nil }
        defer { states[client] = state }
        state.ranks = members.reduce(into: [:]) { ranks, member in
            ranks[member.machine] =
                state.ranks[member.machine] ?? Rank.of(member.machine, state.rollout.fingerprint)
        }
        state.most = max(state.most, members.count)
        let machines = RolloutMachine.all(members, of: state.rollout.fingerprint, state.ranks)
        let admitted = machines.prefix { $0.rank <= state.rollout.admitted }
        state.share = machines.isEmpty ? 0 : Double(admitted.count) / Double(machines.count)
        let failing = admitted.filter(\.isFailing)
        state.failing = failing.map(\.name)
        var pending = 0
        state.lost = []
        // The last step, which admits all machines, waits for none of them.
        let steps = state.steps.filter { $0.admitted != .max }
        for machine in admitted where !machine.hasDelivered && !machine.isSilent {
            guard let since = steps.first(where: { machine.rank <= $0.admitted })?.at else { continue }
            if deadlines.reached(max(since, machine.seenAt) + settings.pause) {
                state.lost.insert(machine.name)
            } else {
                pending += 1
            }
        }
        guard !state.rollout.isFinished, state.rollout.state == .going else {
            if state.rollout.isFinished { state.share = 1 }
            return nil
        }
        var next = state.rollout
        let wanted = min(settings.canaries, machines.count { !$0.isSilent })
        let delivered = admitted.count { $0.hasDelivered }
        let isOfCanaries = delivered < wanted || machines.prefix(settings.canaries).contains(where: \.isFailing)
        if failing.count > state.rollout.tolerated,
            isOfCanaries && !failing.isEmpty || failing.count * 20 > machines.count
        {
            next.state = .held
            return next
        }
        // A store that was emptied, or restored, must not release machines that will report again within a day.
        guard machines.count * 2 >= state.most else { return nil }
        var room: Int
        if delivered < wanted {
            room = wanted - delivered - pending
        } else {
            let since = state.canariesAt ?? deadlines.now.boot
            state.canariesAt = since
            guard deadlines.reached(since + settings.pause) else { return nil }
            room = max(1, machines.count * settings.atOnce / 100) - pending
        }
        guard room > 0 else { return nil }
        // Silent machines are admitted along the way and do not count.
        for machine in machines[admitted.endIndex...] {
            if room == 0 { return next }
            next.admitted = machine.rank
            if !machine.isSilent { room -= 1 }
        }
        // All known machines are admitted now: admit those as well that do not report, unless too few canaries have delivered.
        if delivered >= wanted || admitted.count == machines.count { next.admitted = .max }
        return next == state.rollout ? nil : next
    }

    /// How far a rollout has come; nil where none is known of this secret.
    fileprivate func view(of client: ClientName, _ secret: Fingerprint?) -> RolloutView? {
        guard let state = states[client], state.rollout.fingerprint == secret else { return nil }
        let rollout = state.rollout
        return RolloutView(
            share: rollout.isFinished ? 1 : state.share,
            state: rollout.isFinished ? .finished : rollout.state == .held ? .held : .going, since: state.since)
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        states.allSatisfy { name, state in
            configuration.store != nil && configuration.clients[name]?.isSharing == true && !state.steps.isEmpty
                && (0...1).contains(state.share)
        } ? [] : ["a rollout of another client, or that nobody has admitted"]
    }
}

/// A machine of the fleet, as a rollout sees it.
private struct RolloutMachine {
    let rank: UInt64
    let name: String
    let hasDelivered: Bool
    let isFailing: Bool
    /// It was silent long before.
    let isSilent: Bool
    let seenAt: BootTime

    /// In the order in which they are admitted.
    static func all(
        _ members: [Fleet.Member], of secret: Fingerprint, _ ranks: [String: UInt64] = [:]
    ) -> [RolloutMachine] {
        members.map { member in
            let holds = member.holding.fingerprint == secret
            let hasDelivered = holds && member.holding.delivered
            return RolloutMachine(
                rank: ranks[member.machine] ?? Rank.of(member.machine, secret), name: member.machine,
                hasDelivered: hasDelivered,
                // What it lacks of the store says nothing of its applications.
                isFailing: holds && !hasDelivered && !member.isSilent
                    && member.holding.failure.map { !Self.isOfStore($0) } ?? false,
                isSilent: member.isSilent && !hasDelivered, seenAt: member.seenAt)
        }.sorted { $0.rank < $1.rank }
    }

    /// Whether a failure that another machine reports is about the store alone. The code of a later version is unknown here
    /// and counts as a failure of the machine: then the rollout is rather held than continued.
    private static func isOfStore(_ code: String) -> Bool {
        FailureCode(rawValue: code)?.traits.contains(.ofStore) == true
    }
}

extension Rotation {
    // MARK: What is

    mutating func rolloutFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .putRollout(let client, let rollout, let place, _, let put) = job.work else { return }
        switch result {
        case .success(.rolloutPut(.done(let revision))):
            storeReading.see(.rollout(rollout, revision: revision), at: place)
            if let put { shareFinished(client, put.secret, at: place, .done(revision: revision), at: now) }
        case .success(.rolloutPut(.found(let found, let secret))):
            storeReading.see(found, at: place)
            guard let put else { return }
            shareFinished(
                client, put.secret, at: place, .conflict(secret ?? .missing), at: now)
        case .failure: shareFailed()
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// How far the rollouts have come of the secrets that are in force here.
    var rolloutViews: [ClientName: RolloutView] {
        guard !rollouts.isEmpty else { return [:] }
        return index.names.reduce(into: [:]) { views, name in
            views[name] = rollouts.view(of: name, renewal[name]?.current?.fingerprint)
        }
    }

    // MARK: Requests

    /// Has a client's rollout do something. Returns whether there is one that is not finished.
    mutating func orderRollout(_ order: RolloutOrder, of client: ClientName, at now: Now) -> Bool {
        guard let view = rollouts.view(of: client, renewal[client]?.current?.fingerprint) else { return false }
        guard view.state != .finished else { return order == .finish }
        rollouts.order(order, client)
        jobs.want(.rollout(client), at: now)
        touch(.client(client))
        return true
    }

    /// The answer to who has a rollout do something; nil until it is in the store.
    mutating func rolloutAnswer(
        _ order: RolloutOrder, of client: ClientName, since job: JobID, at now: Now
    ) -> Answer? {
        guard rollouts.isOrdered(client) else {
            guard let view = rollouts.view(of: client, renewal[client]?.current?.fingerprint),
                order.isDone(in: view.state)
            else { return .rolloutOvertaken }
            return .rollout(view)
        }
        guard let failure = obstacle(toRolloutOf: client, since: job, at: now) else { return nil }
        // An order that was kept would be carried out hours later, when it is not expected any more.
        rollouts.order(nil, client)
        return .noRollout(failure)
    }

    /// Why this machine cannot change a rollout now; nil when it can.
    private func obstacle(toRolloutOf client: ClientName, since job: JobID, at now: Now) -> Failure? {
        let failed =
            jobs.attempts[.rollout(client)].flatMap { $0.job >= job ? $0.failure : nil }
            ?? jobs.attempts[.store]?.failure ?? clock.failure
        guard failed == nil, let subject = index.subjects[client] else { return failed }
        // When one of these would begin is no reason to wake.
        var deadlines = Deadlines(now: now)
        let reason = shareReason(of: subject, &deadlines) ?? rolloutReason(of: subject, &deadlines)
        return reason?.failure.code == .rolloutHeld ? nil : reason?.failure
    }

    // MARK: What is wanted

    /// The rollout that a secret is put into the store with; nil for none.
    func rolloutToPut(_ secret: SecretInfo, _ client: Subject, at place: StorePlace) -> Rollout? {
        let observed = storeReading.rollouts[place]
        guard observed != .forbidden, observed?.rollout?.fingerprint != secret.fingerprint else { return nil }
        guard let settings = client.entry.rollout else {
            // Machines that have seen one wait for this one.
            return wasNeverRolledOut(client.name, place) ? nil : .finished(secret.fingerprint)
        }
        if let known = rollouts[client.name]?.rollout, known.fingerprint == secret.fingerprint { return known }
        let members = members(of: client) ?? []
        let ranks = RolloutMachine.all(members, of: secret.fingerprint).filter { !$0.isSilent }.map(\.rank)
        return Rollout(fingerprint: secret.fingerprint, admitted: ranks.prefix(settings.canaries).last ?? 0)
    }

    /// Whether no rollout of a client's secrets was seen, before the start either: then no machine waits for one.
    private func wasNeverRolledOut(_ client: ClientName, _ place: StorePlace) -> Bool {
        storeReading.rollouts[place] == nil && rollouts[client] == nil && !admissions.wasRolledOut(place)
    }

    private func members(of client: Subject) -> [Fleet.Member]? {
        guard let store = configuration.store else { return nil }
        return fleet.members(
            of: ClientIdentity(team: client.key.team, client: client.entry.clientID), besides: store.machine)
    }

    mutating func planRollout(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard let place = ownPlace(client), clock.failure == nil, !storeReading.isFailing,
            let secret = secretToShare(client), storeReading.observed[place]?.holds(secret) == true
        else { return }
        let observed = storeReading.rollouts[place]
        if client.entry.rollout == nil, wasNeverRolledOut(name, place) { return }
        guard let revision = observed.map(\.revision) ?? 0 else { return }
        guard let rollout = observed?.rollout, rollout.fingerprint == secret.fingerprint else {
            guard let wanted = rolloutToPut(secret, client, at: place) else { return }
            if let repairedAt = rollouts[name]?.repairedAt, !deadlines.reached(repairedAt + Rollouts.repairPace) {
                return
            }
            rollouts.see(wanted, name, at: deadlines.now)
            if put(wanted, name, at: place, ifAt: revision, &deadlines) { rollouts.repair(name, at: deadlines.now) }
            return
        }
        rollouts.see(rollout, name, at: deadlines.now)
        let members = members(of: client)
        let step = members.flatMap {
            rollouts.next(name, client.entry.rollout ?? .standard, $0, &deadlines)
        }
        fleet.note(name, lost: rollouts.lost(name))
        let wanted = ordered(name, rollout) ?? (client.entry.rollout == nil ? .finished(secret.fingerprint) : step)
        if let wanted, wanted != rollout {
            put(wanted, name, at: place, ifAt: revision, &deadlines)
        } else {
            rollouts.order(nil, name)
            recover(.rollout(name))
        }
    }

    @discardableResult
    private mutating func put(
        _ rollout: Rollout, _ client: ClientName, at place: StorePlace, ifAt revision: Int64,
        _ deadlines: inout Deadlines
    ) -> Bool {
        guard jobs[.share(client)] == nil else { return false }
        return start(
            .putRollout(client, rollout, at: place, ifAt: revision, with: nil), on: .rollout(client), &deadlines)
    }

    /// The rollout that an operator has asked for; nil when none has.
    private func ordered(_ client: ClientName, _ rollout: Rollout) -> Rollout? {
        guard let state = rollouts[client], let order = state.order else { return nil }
        var wanted = rollout
        switch order {
        // A finished rollout has no machine left to hold back.
        case .hold: wanted.state = rollout.isFinished ? .going : .held
        case .resume:
            wanted.state = .going
            wanted.tolerated = max(rollout.tolerated, state.failing.count)
        case .finish: wanted = .finished(rollout.fingerprint)
        }
        return wanted
    }

    // MARK: What is reported

    /// Why a rollout is a reason for a client not to be ok: it is held, or this machine may not see or put it.
    func rolloutReason(of client: Subject, _ deadlines: inout Deadlines) -> Reason? {
        guard index.hasStore, client.entry.concernsStore else { return nil }
        let name = client.name
        if !storeReading.rollouts.isEmpty,
            storePlaces(of: client).contains(where: { storeReading.rollouts[$0] == .forbidden })
        {
            return Reason(
                failure: Failure(.storeForbidden, at: .store, detail: "the rollout of client \"\(name)\""),
                client: name, since: deadlines.now.wall, nextAttempt: nil)
        }
        if let attempts = jobs.lastFailure(of: .rollout(name)),
            isReason(attempts.failure, since: attempts.since, &deadlines)
        {
            return Reason(
                failure: attempts.failure, client: name, since: attempts.since,
                nextAttempt: upcoming(attempts.notBefore, deadlines.now))
        }
        guard let state = rollouts[name], let secret = renewal[name]?.current,
            let view = rollouts.view(of: name, secret.fingerprint), view.state != .finished
        else { return nil }
        // Without the machines' reports no further machine is admitted.
        if let attempts = jobs.lastFailure(of: .fleet),
            isReason(attempts.failure, since: attempts.since, &deadlines)
        {
            return Reason(
                failure: attempts.failure, client: name, since: attempts.since,
                nextAttempt: upcoming(attempts.notBefore, deadlines.now))
        }
        guard view.state == .held else { return nil }
        let named = state.failing.prefix(5).joined(separator: ", ")
        let more = state.failing.count > 5 ? " and \(state.failing.count - 5) more" : ""
        return Reason(
            failure: Failure(
                .rolloutHeld, at: .client(name), detail: named.isEmpty ? nil : "failing: \(named)\(more)"),
            client: name, since: state.since, nextAttempt: nil)
    }
}
