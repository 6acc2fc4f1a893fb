import AppleClientSecret
internal import Failures
import Model

/// A user's order to a client's rollout that the store does not have yet.
struct PendingRolloutOrder: Hashable, Sendable {
    let order: RolloutOrder
    /// The secret that was current then.
    let secret: SecretName
}

/// How secrets that this machine puts into the store are rolled out: which machines of the fleet may deliver them.
///
/// - A rollout is put in one transaction with its secret (`StorePuts`). Any signer may raise it, and none undoes another's
///   change. ``RolloutPolicy`` has the rules.
/// - The pause is measured by this machine's own monotonic clock.
/// - A machine that reports nothing for `pause` after it was admitted counts as silent.
/// - A machine is failing if it reports the new secret, has not delivered it, and reports a failure of anything but the store.
/// - Only the machines' reports show progress: while these cannot be read, no further machine is admitted. Once they can be
///   read again, `pause` begins again.
/// - A rollout in the store that is missing, unreadable, another secret's or an earlier state from a restored backup is put
///   there again. It is put as it was last seen, once a minute at most.
/// - A client without `rollout` whose place has one admits all machines.
/// - A user's order to a rollout that waits for the store waits with it, some minutes at most, and is put with it. An order to one that the store has
///   seen is withdrawn if the store cannot be reached.
extension Rotation {
    // MARK: State

    /// The progress of the rollouts of the current secrets.
    var rolloutViews: [ClientName: RolloutView] {
        index.all.reduce(into: [:]) { views, client in views[client.name] = rolloutView(of: client) }
    }

    /// The progress of the rollout of a client's current secret; nil if there is none. A rollout that was not seen in the store
    /// admits no machine: none has the secret, or waits for it.
    private func rolloutView(of client: ConfiguredClient) -> RolloutView? {
        if let seen = seenRolloutView(of: client) { return seen }
        guard client.isSharing, client.entry.rollout != nil else { return nil }
        let since = clients[client].secret.current.map { max($0.mintedAt, startedAt) } ?? startedAt
        return RolloutView(share: 0, state: .waiting, since: since)
    }

    /// The same for a rollout that was seen in the store, or put there.
    private func seenRolloutView(of client: ConfiguredClient) -> RolloutView? {
        clients[client].rollout?.view(of: clients[client].secret.current?.name)
    }

    // MARK: Requests

    /// Controls a client's rollout. Returns why that is impossible: no rollout is unfinished.
    mutating func orderRollout(_ order: RolloutOrder, of client: ConfiguredClient, at now: Now) -> Answer? {
        guard client.isSharing else { return .noFleet(nil) }
        // In a rollout that has ended by itself, machines may still wait for their turns.
        guard let view = rolloutView(of: client), view.state != .finished || order == .finish,
            let secret = clients[client].secret.current?.name
        else { return .noRollout(nil) }
        clients[client].rolloutOrder = PendingRolloutOrder(order: order, secret: secret)
        jobs.want(.share(client.name), at: now)
        jobs.want(.rollout(client.name), at: now)
        touch(client)
        return nil
    }

    /// The order to the rollout of a client's current secret that is not done yet.
    private func pendingOrder(to client: ConfiguredClient) -> RolloutOrder? {
        guard let pending = clients[client].rolloutOrder else { return nil }
        return clients[client].secret.current?.name.isSame(as: pending.secret) == true ? pending.order : nil
    }

    /// How long an order to a rollout waits for a store that is away. It is less than a command waits for the answer.
    static let longestOrder = Seconds(570)

    /// The answer to an order to a rollout; nil until the store has it.
    ///
    /// - Parameter isLate: whether it has waited for ``longestOrder``.
    func rolloutAnswer(
        _ order: RolloutOrder, of client: ClientName, since job: JobID, isLate: Bool, at now: Now
    ) -> Answer? {
        guard let client = index[client], rolloutView(of: client) != nil, pendingOrder(to: client) != nil else {
            guard let view = index[client].flatMap(seenRolloutView), order.isDone(in: view.state) else {
                return .rolloutOvertaken
            }
            return .rollout(view)
        }
        guard let failure = problem(rollingOut: client, since: job, at: now) else { return nil }
        // It is put with the secret, as soon as the store can be reached.
        let traits = failure.code.traits
        let isAway = traits.contains(.ofStore) && !traits.contains(.refusalOfStore)
        return isAway && !isLate && seenRolloutView(of: client) == nil ? nil : .noRollout(failure)
    }

    /// Withdraws a user's order, after the answer that it cannot be done: it would be carried out hours later, when
    /// no user expects it.
    mutating func withdrawOrder(of client: ClientName) {
        if let client = index[client] { clients[client].rolloutOrder = nil }
    }

    /// Why this machine cannot change a rollout now; nil when it can.
    private func problem(rollingOut client: ConfiguredClient, since job: JobID, at now: Now) -> Failure? {
        let failed =
            jobs.attempts[.rollout(client.name)].flatMap { $0.job >= job ? $0.failure : nil }
            ?? jobs.currentFailure(of: .store) ?? clock.failure ?? jobs.attempts[.key(client.entry.key)]?.failure
            ?? currentRefusal(client)
        if let failed { return failed }
        let reason = WakeTimer.peek(at: now) { storeReason(of: client, &$0) ?? rolloutReason(of: client, &$0) }
        return reason?.failure.code == .rolloutHeld ? nil : reason?.failure
    }

    // MARK: Plan

    /// The rollout that is put into the store with a secret, as a user has ordered it; nil for none.
    func orderedRolloutToPut(_ own: OwnPlace, _ client: ConfiguredClient, _ timer: inout WakeTimer) -> Rollout? {
        rolloutToPut(own, client, &timer).map { ordered(client, $0) ?? $0 }
    }

    /// The same before a user's order. Only a new one needs the order already: if it is to be held, it admits no canary.
    private func rolloutToPut(_ own: OwnPlace, _ client: ConfiguredClient, _ timer: inout WakeTimer) -> Rollout? {
        let name = own.secret.name
        guard own.rollout != .forbidden, own.rollout?.rollout?.secret.isSame(as: name) != true else { return nil }
        guard let settings = client.entry.rollout else {
            // Machines that have seen an earlier rollout wait for this one.
            return wasNeverRolledOut(own) ? nil : .finished(name)
        }
        if let known = clients[client].rollout?.rollout, known.secret.isSame(as: name) { return known }
        // A rollout that was deleted continues in its former state: a held one waits for an order.
        let isHeld = isRolloutHeld(client) || pendingOrder(to: client) == .hold
        let new = Rollout(of: name, admitted: 0, state: isHeld ? .held : .going)
        guard new.state == .going, let members = members(of: client, &timer) else { return new }
        let progress = RolloutPolicy.Progress(
            machines: RolloutPolicy.Machine.all(members, of: new), missing: fleet.known.missing(client.identity))
        return Rollout(of: name, admitted: RolloutPolicy.beginning(progress, settings))
    }

    /// Whether the rollout of a client's current secret is held, or was when it was last seen, also before the start.
    func isRolloutHeld(_ client: ConfiguredClient) -> Bool {
        guard client.entry.rollout != nil, let current = clients[client].secret.current else { return false }
        if let seen = ownPlace(client)?.rollout?.rollout, seen.secret.isSame(as: current.name) {
            return seen.state == .held
        }
        if let isHeld = clients[client].rollout?.isHeld(current.name) { return isHeld }
        let record = clients[client].record.value
        let isSameStore = record.store == configuration.store?.place
        return isSameStore && record.isRolloutHeld && record.current?.name.isSame(as: current.name) == true
    }

    /// Whether no rollout of a client's secrets was seen or put there, also before the start: then no machine waits for one.
    private func wasNeverRolledOut(_ own: OwnPlace) -> Bool {
        own.rollout == nil && !admissions.wasRolledOut(own.place)
    }

    private func members(of client: ConfiguredClient, _ timer: inout WakeTimer) -> FleetMembers? {
        guard let store = configuration.store else { return nil }
        return fleet.members(
            of: client.identity, excluding: store.machine, isRollingOut: clients[client].rollout?.isGoing == true,
            &timer)
    }

    mutating func planRollout(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        let name = client.name
        guard let own = ownPlace(client), own.observed.holds(own.secret) else { return }
        if client.entry.rollout == nil, wasNeverRolledOut(own) {
            // A rollout that could not be put is no longer wanted.
            clients[client].rollout = nil
            return recover(.rollout(name))
        }
        guard let revision = own.revisionOfRollout else { return }
        guard let rollout = own.rollout?.rollout, rollout.secret.isSame(as: own.secret.name) else {
            guard let wanted = rolloutToPut(own, client, &timer) else { return }
            if let repairedAt = clients[client].rollout?.repairedAt,
                !timer.reached(repairedAt + RolloutProgress.repairInterval)
            {
                return
            }
            see(wanted, nil, client, at: timer.now)
            let work = Work.putRollout(
                name, ordered(client, wanted) ?? wanted, at: own.place, ifAt: revision, with: nil)
            if put(work, on: .rollout(name), of: name, &timer) { clients[client].rollout?.repaired(at: timer.now) }
            return
        }
        see(rollout, revision, client, at: timer.now)
        var wanted = rollout
        if let members = members(of: client, &timer) {
            let settings = client.entry.rollout ?? .standard
            let progress = clients[client].rollout?.observe(
                settings, members, missing: fleet.known.missing(client.identity), &timer)
            if let progress { wanted = RolloutPolicy.next(rollout, progress, settings) }
        }
        fleet.note(name, lost: clients[client].rollout?.lost ?? [])
        if client.entry.rollout == nil, !rollout.isFinished { wanted = .finished(own.secret.name) }
        wanted = ordered(client, rollout) ?? wanted
        if wanted != rollout {
            put(
                .putRollout(name, wanted, at: own.place, ifAt: revision, with: nil), on: .rollout(name), of: name,
                &timer)
        } else {
            clients[client].rolloutOrder = nil
            recover(.rollout(name))
        }
    }

    private mutating func see(_ rollout: Rollout, _ revision: Int64?, _ client: ConfiguredClient, at now: Now) {
        if clients[client].rollout == nil { clients[client].rollout = RolloutProgress(rollout, at: now) }
        clients[client].rollout?.see(rollout, revision: revision, at: now)
    }

    /// The rollout that an operator requests; nil without an order.
    private func ordered(_ client: ConfiguredClient, _ rollout: Rollout) -> Rollout? {
        guard let order = pendingOrder(to: client) else { return nil }
        var wanted = rollout
        switch order {
        // A finished rollout has no machine left to hold back.
        case .hold: wanted.state = rollout.isFinished ? .going : .held
        case .resume:
            wanted.state = .going
            if let progress = clients[client].rollout, progress.rollout.secret.isSame(as: rollout.secret) {
                wanted.tolerated = max(rollout.tolerated, progress.failing.count)
            }
        case .finish: wanted = Rollout(of: rollout.secret, admitted: .max, isOrdered: true)
        }
        return wanted
    }

    // MARK: Reports

    /// Why a rollout is a reason for a client not to be ok: it is held, or this machine may not see or put it.
    func rolloutReason(of client: ConfiguredClient, _ timer: inout WakeTimer) -> Reason? {
        guard client.concernsStore else { return nil }
        let name = client.name
        if !storePolling.rollouts.isEmpty,
            storePlaces(of: client).contains(where: { storePolling.rollouts[$0] == .forbidden })
        {
            return Reason(
                failure: Failure(.storeForbidden, at: .store, detail: "the rollout of client \"\(name)\""),
                client: name, since: timer.now.wall)
        }
        if let attempts = jobs.attempts[.rollout(name)],
            isReported(attempts.failure, since: attempts.began, &timer)
        {
            return reason(attempts, at: .rollout(name), for: name, timer.now)
        }
        guard let progress = clients[client].rollout, let view = seenRolloutView(of: client), view.state != .finished
        else {
            return nil
        }
        // Without the machines' reports no further machine is admitted.
        if let attempts = jobs.attempts[.fleet],
            isReported(attempts.failure, since: attempts.began, &timer)
        {
            return reason(attempts, at: .fleet, for: name, timer.now)
        }
        guard view.state == .held else { return nil }
        let named = listed(progress.failing, atMost: 5)
        return Reason(
            failure: Failure(.rolloutHeld, at: .client(name), detail: named.isEmpty ? nil : "failing: \(named)"),
            client: name, since: progress.since)
    }
}
