import AppleClientSecret
internal import Failures

/// How far the secrets are rolled out that this machine puts into the store: which machines of the fleet may deliver them.
///
/// - A rollout is put in one transaction with its secret, and raised by comparison with what was last seen: any signer may
///   raise it, and none undoes what another one did. ``RolloutPolicy`` says how.
/// - The pause is measured by this machine's own monotonic clock.
/// - A machine that reports nothing for `pause` after it was admitted counts as silent.
/// - A machine is failing that reports the new secret, has not delivered it, and reports a failure of anything but the store.
/// - Progress is known from the machines' reports only: while these cannot be read, no further machine is admitted.
/// - A rollout in the store that is gone, unreadable or another secret's is put there again, once a minute at most.
/// - A client without `rollout` whose place has one admits all machines.
struct Rollouts: Sendable {
    private var states: [ClientName: State] = [:]

    fileprivate struct State: Hashable, Sendable {
        /// As it was last seen in the store, or put there.
        var rollout: Rollout
        /// Since when it has been in its state.
        var since: WallTime
        /// Up to which rank it was admitted when.
        var steps: [Step] = []
        /// Since when all wanted canaries are known to have delivered.
        var canariesAt: BootTime?
        /// When it was last put because it was not there.
        var repairedAt: BootTime?
        /// What somebody has asked for, and is not done yet.
        var order: RolloutOrder?
        /// How many machines are admitted of those that report, from 0 to 1.
        var share = 0.0
        /// The machines that keep it from going on.
        var failing: [String] = []
        /// The machines that were admitted, have not delivered, and have given no sign of life for `pause`.
        var lost: Set<String> = []
        /// Of the machines that report: ten thousand of them are costly to compute.
        var ranks: [String: UInt64] = [:]
        /// When it was first seen. After a day every machine has reported that can.
        let begunAt: BootTime
        /// Whether a machine is waited for, so that the reports are read often.
        var isMoving = true
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
    var isGoing: Bool {
        states.values.contains { !$0.rollout.isFinished && $0.rollout.state == .going && $0.isMoving }
    }

    func isOrdered(_ client: ClientName) -> Bool { states[client]?.order != nil }

    mutating func order(_ order: RolloutOrder?, _ client: ClientName) { states[client]?.order = order }

    /// Records how far it is.
    fileprivate mutating func see(_ rollout: Rollout, _ client: ClientName, at now: Now) {
        guard var state = states[client], state.rollout.secret.isSame(as: rollout.secret) else {
            var state = State(rollout: rollout, since: now.wall, begunAt: now.boot)
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
    /// - Parameters:
    ///   - members: the machines that report the client.
    ///   - missing: how many machines have reported it, and have no report any more.
    fileprivate mutating func next(
        _ client: ClientName, _ settings: RolloutSettings, _ members: [Fleet.Member], missing: Int,
        _ deadlines: inout Deadlines
    ) -> Rollout? {
        guard var state = states[client] else { return nil }
        defer { states[client] = state }
        state.ranks = members.reduce(into: [:]) { ranks, member in
            ranks[member.machine] = state.ranks[member.machine] ?? state.rollout.rank(of: member.machine)
        }
        var machines = state.machines(members)
        let admitted = machines.prefix { $0.rank <= state.rollout.admitted }.count
        let seenAt = Dictionary(members.map { ($0.machine, $0.seenAt) }) { one, _ in one }
        // The last step, which admits all machines, waits for none of them.
        let steps = state.steps.filter { $0.admitted != .max }
        state.lost = []
        for index in 0..<admitted where !machines[index].hasDelivered && !machines[index].isSilent {
            guard let since = steps.first(where: { machines[index].rank <= $0.admitted })?.at,
                deadlines.reached(max(since, seenAt[machines[index].name] ?? since) + settings.pause)
            else { continue }
            state.lost.insert(machines[index].name)
            machines[index].isSilent = true
        }
        state.share = machines.isEmpty ? 0 : Double(admitted) / Double(machines.count)
        state.failing = machines[..<admitted].filter(\.isFailing).map(\.name)
        guard !state.rollout.isFinished, state.rollout.state == .going else {
            if state.rollout.isFinished { state.share = 1 }
            return nil
        }
        var progress = RolloutPolicy.Progress(machines: machines, missing: missing)
        if RolloutPolicy.haveCanariesDelivered(state.rollout, machines, settings) {
            let since = state.canariesAt ?? deadlines.now.boot
            state.canariesAt = since
            progress.isPauseOver = deadlines.reached(since + settings.pause)
        } else {
            state.canariesAt = nil
        }
        state.isMoving = admitted < machines.count || machines.contains { !$0.hasDelivered && !$0.isSilent }
        if !state.isMoving { progress.isEverybodyKnown = deadlines.reached(state.begunAt + Fleet.silence) }
        let next = RolloutPolicy.next(state.rollout, progress, settings)
        return next == state.rollout ? nil : next
    }

    /// How far a rollout has come; nil where none is known of this secret.
    fileprivate func view(of client: ClientName, _ secret: SecretName?) -> RolloutView? {
        guard let state = states[client], let secret, state.rollout.secret.isSame(as: secret) else { return nil }
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

extension Rollouts.State {
    /// The machines, by rank, as the rollout of this secret sees them.
    fileprivate func machines(_ members: [Fleet.Member]) -> [RolloutPolicy.Machine] {
        RolloutPolicy.Machine.all(members, of: rollout, ranks)
    }
}

extension RolloutPolicy.Machine {
    /// - Parameter ranks: those that were computed before.
    fileprivate static func all(
        _ members: [Fleet.Member], of rollout: Rollout, _ ranks: [String: UInt64] = [:]
    ) -> [RolloutPolicy.Machine] {
        members.map { member in
            let holds = member.holding.holds(rollout.secret)
            let hasDelivered = holds && member.holding.delivered
            return RolloutPolicy.Machine(
                name: member.machine, rank: ranks[member.machine] ?? rollout.rank(of: member.machine),
                hasDelivered: hasDelivered,
                // What it lacks of the store says nothing of its applications.
                isFailing: holds && !hasDelivered && !member.isSilent
                    && member.holding.failure.map { !Self.isOfStore($0) } ?? false,
                isSilent: member.isSilent && !hasDelivered)
        }.sorted { $0.rank < $1.rank }
    }

    /// Whether a failure that another machine reports is only about the store. The code of a later version is unknown here
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
            admissions.recall(place)
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
            views[name] = rollouts.view(of: name, renewal[name]?.current?.name)
        }
    }

    // MARK: Requests

    /// Has a client's rollout do something. Returns whether there is one that is not finished.
    mutating func orderRollout(_ order: RolloutOrder, of client: ClientName, at now: Now) -> Bool {
        guard let view = rollouts.view(of: client, renewal[client]?.current?.name) else { return false }
        // Machines may still wait for their turns in one that has ended by itself.
        guard view.state != .finished || order == .finish else { return false }
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
            guard let view = rollouts.view(of: client, renewal[client]?.current?.name),
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
        guard observed != .forbidden, observed?.rollout?.secret.isSame(as: secret.name) != true else { return nil }
        guard let settings = client.entry.rollout else {
            // Machines that have seen one wait for this one.
            return wasNeverRolledOut(client.name, place) ? nil : .finished(secret.name)
        }
        if let known = rollouts[client.name]?.rollout, known.secret.isSame(as: secret.name) { return known }
        let new = Rollout(of: secret.name, admitted: 0)
        guard let members = members(of: client) else { return new }
        let progress = RolloutPolicy.Progress(
            machines: RolloutPolicy.Machine.all(members, of: new), missing: fleet.missing(identity(of: client)))
        return Rollout(of: secret.name, admitted: RolloutPolicy.beginning(progress, settings))
    }

    /// Whether no rollout of a client's secrets was seen, before the start either: then no machine waits for one.
    private func wasNeverRolledOut(_ client: ClientName, _ place: StorePlace) -> Bool {
        storeReading.rollouts[place] == nil && rollouts[client] == nil && !admissions.wasRolledOut(place)
    }

    private func members(of client: Subject) -> [Fleet.Member]? {
        guard let store = configuration.store else { return nil }
        return fleet.members(of: identity(of: client), besides: store.machine)
    }

    func identity(of client: Subject) -> ClientIdentity {
        ClientIdentity(team: client.key.team, client: client.entry.clientID)
    }

    mutating func planRollout(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard let place = ownPlace(client), clock.failure == nil, !storeReading.isFailing,
            let secret = secretToShare(client), storeReading.observed[place]?.holds(secret) == true
        else { return }
        let observed = storeReading.rollouts[place]
        if client.entry.rollout == nil, wasNeverRolledOut(name, place) { return }
        guard let revision = observed.map(\.revision) ?? 0 else { return }
        guard let rollout = observed?.rollout, rollout.secret.isSame(as: secret.name) else {
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
            rollouts.next(
                name, client.entry.rollout ?? .standard, $0, missing: fleet.missing(identity(of: client)),
                &deadlines)
        }
        fleet.note(name, lost: rollouts.lost(name))
        let isOver = client.entry.rollout == nil && !rollout.isFinished
        let wanted = ordered(name, rollout) ?? (isOver ? .finished(secret.name) : step)
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
        case .finish: wanted = Rollout(of: rollout.secret, admitted: .max, isOrdered: true)
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
            let view = rollouts.view(of: name, secret.name), view.state != .finished
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
