import AppleClientSecret
internal import Failures
import Model

/// How well each client is served, and the daemon as a whole, as status, metrics, sd_notify and the journal show it.
///
/// - A client is judged by the last seen content of its outputs and the secrets its actions last ran for. This happens in each
///   step that may have changed any of it, and when time alone changes it.
/// - Log events, `on_state_change` and this machine's report in the store (`OwnReport`) depend on it.
struct ClientHealth: Sendable {
    /// As the client was last judged.
    private(set) var view: ClientView?
    /// The state that was last logged.
    private var logged: HealthState = .ok
    /// The attempts for it.
    fileprivate(set) var tally = ClientCounts()

    mutating func set(_ view: ClientView) { self.view = view }

    /// Records that its state was logged; returns whether it differs from the one that was logged last.
    mutating func log(_ state: HealthState) -> Bool {
        defer { logged = state }
        return logged != state
    }

    /// Counts a secret that was received from the client's source.
    mutating func countReceived() { tally.received += 1 }

    func checkInvariants() -> [String] {
        guard let view else { return [] }
        var broken: [String] = []
        if (view.health == .ok) != (view.reason == nil) { broken.append("it is \(view.health) with another reason") }
        for output in view.outputs where view.health == .ok && output.state != .ok {
            broken.append("it is ok, and \(output.place) is \(output.state.rawValue)")
        }
        return broken
    }
}

extension Rotation {
    /// The worst state of a client.
    var worstHealth: HealthState { clients.all.lazy.compactMap { $0.health.view?.health }.max() ?? .ok }

    /// Counts the result of a job for each of its clients.
    mutating func count(_ job: Job, success: Bool) {
        let names: Set<ClientName>
        var tally: WritableKeyPath<ClientCounts, Tally> = \.publishes
        switch job.work {
        case .mint(let name, _, _):
            names = [name]
            tally = \.mints
        // Several variables of a client in one file are still one write.
        case .publish(let spec, let secrets, _, _): names = Set(secrets.keys.compactMap { spec.slots[$0] })
        case .push(let name, _, _, _): names = [name]
        case .run(_, let covering):
            names = Set(covering.keys)
            tally = \.deliveries
        default: return
        }
        for client in names.compactMap({ index[$0] }) {
            clients[client].health.tally[keyPath: tally].count(success: success)
        }
    }

    /// Computes a client's health from the last seen content of its files and the secrets its actions last ran for.
    mutating func judge(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        let name = client.name
        let known = clients[client]
        let held = known.secret.current
        let current = client.entry.source == nil ? held : receivedSecret(client)
        let old = known.health.view
        let now = timer.now
        let wanted = wantedSecret(client)
        let reasons = reasons(for: client, &timer)
        let warnings = warnings(of: client, &timer)
        let facts = facts(of: client, &timer)
        var outputs =
            client.entry.outputs.map { outputView($0, holding: wanted, &timer) }
            + client.targets.map { target in
                var view = targetView(target.target, holding: wanted, &timer)
                if client.entry.undeployed.contains(target.target) { view.deployed = false }
                return view
            }
        for index in outputs.indices { outputs[index].failure = outputs[index].failure?.concerning(name) }
        let actions = client.actions.map { actionView($0, of: client, &timer) }
        // A place that another program keeps changing may hold the secret now.
        let isPublished =
            outputs.allSatisfy { $0.state == .ok || $0.state == .contested } && holdsWanted(client)
        let isOutdated = isOutdated(client)
        let isDone = isPublished && owedActions(of: client).isEmpty && !isOutdated
        let wasDone = old.map { $0.delivered || $0.isUndeployed && $0.health == .ok } ?? false
        let lastSuccessAt = isDone && !wasDone ? now.wall : old?.lastSuccessAt
        let weakest = facts.weakest

        // A clock that may be ahead raises no alarm.
        let isSpared = spared(client, &timer) != nil
        if let secret = facts.aging, !isSpared {
            stateChangeActions.see(client.entry.stage(of: secret, &timer), of: name, at: now.boot)
        }

        let isServed = isDone || isPublished && (isOutdated || isOnlyWaiting(client, &timer))
        let lockout = lockout(of: client, holding: weakest, isSpared: isSpared, &timer)
        let explanation = lockout.flatMap { cause(of: $0, for: client, among: reasons, &timer) }
        let (health, first) = verdict(on: client, isServed: isServed, reasons, warnings, lockout, explanation, at: now)
        var reason = first
        // The same failure persists: it began when it was first seen, not now.
        if let old = old?.reason, old.failure == reason?.failure, reason?.since == now.wall {
            reason?.since = old.since
        }
        let view = ClientView(
            name: name, clientID: client.entry.clientID, team: held?.team ?? client.key.team,
            keyID: held?.keyID ?? client.key.keyID, health: health,
            reason: health == .ok ? nil : reason, current: current,
            deliveredExpiresAt: deliveredExpiry(client, wanted),
            renewAt: current.map { renewal(of: $0, client) }, renewals: known.health.tally.mints.successes,
            counts: known.health.tally, lastSuccessAt: lastSuccessAt,
            consecutiveFailures: reasons.isEmpty && warnings.isEmpty ? 0 : consecutiveFailures(client),
            lastError: (reasons + warnings).first?.failure.message,
            delivered: isDone && client.entry.undeployed.isEmpty, outputs: outputs, actions: actions,
            verification: known.verification?.view, source: sourceView(of: client, at: now))
        if isNews(view, client), clients[client].health.log(health) {
            events.append(.health(name, health, view.reason))
        }
        clients[client].health.set(view)
    }

    /// The last seen state of a client's outputs, APIs and applications.
    func facts(of client: ConfiguredClient, _ timer: inout WakeTimer) -> ClientFacts {
        var facts = ClientFacts(
            name: client.name, entry: client.entry, keys: knownKeys(client), current: clients[client].secret.current,
            clock: clock, builtAt: builtAt, isUnderWay: !clients[client].wasTried)
        let presumed = presumedPaths(of: client)
        facts.findOutputs(
            reading: { path in
                if let slots = files[path]?.slots { return .success(slots) }
                return presumed.contains(path) ? nil : jobs.attempts[.file(path)].map { .failure($0.failure) }
            }, refusal: { refusal(of: $0, for: client, &timer) })
        facts.pushed = client.targets.map { targets[$0.target]?.known }
        let wanted = wantedSecret(client)
        facts.emptyPlaces = client.targets.map(\.target).filter {
            client.entry.lacksSecret(targets[$0]?.shown, wanted: wanted, clock: clock, &timer)
        }
        facts.delivered = client.actions.flatMap { secretsInUse(by: $0, of: client) }
        if !presumed.isEmpty, let last = lastDelivered(to: client) { facts.delivered.append(last) }
        // A client without places has a credential. It counts until an application is known to hold a secret.
        if client.places.isEmpty, client.targets.isEmpty, facts.delivered.isEmpty {
            facts.served = clients[client].secret.current
        }
        facts.findRefused { refusal(of: $0, for: client, &timer) }
        return facts
    }

    /// The files of a client that could not be read since the start. They count as holding the last delivered secret by the
    /// record: the restart has changed nothing for applications.
    private func presumedPaths(of client: ConfiguredClient) -> Set<AbsolutePath> {
        guard jobs.hasFailure, lastDelivered(to: client) != nil else { return [] }
        let recorded = clients[client].record.value.outputs
        return Set(
            client.places.filter { place in
                guard files[place.path]?.slots == nil, let failed = jobs.attempts[.file(place.path)] else {
                    return false
                }
                return !failed.failure.code.traits.contains(.holdsNoSecret)
                    && place.slots.allSatisfy { recorded.contains(OutputPlace(path: place.path, slot: $0)) }
            }.map(\.path))
    }

    /// Whether production serves a deployment from before a push of the client's secret.
    private func isOutdated(_ client: ConfiguredClient) -> Bool {
        client.targets.contains { targets[$0.target]?.isOutdated == true }
    }

    /// Whether to log a health change. A renewal that is merely under way is not logged. A client that was not tried is not
    /// logged either, because it is not expected to be served yet. After the first write into a file with an expired secret,
    /// applications have that one for the moment that an action takes. An action that fails or waits is logged.
    private func isNews(_ view: ClientView, _ client: ConfiguredClient) -> Bool {
        clients[client].wasTried && !view.isUnderWay && !view.isDelivering
    }

    /// When the first secret that applications hold expires: those behind APIs, and those last delivered, or, without actions,
    /// those in the files. Nil when a place holds nothing, has to be deployed by a user, or is in production with an older secret.
    private func deliveredExpiry(_ client: ConfiguredClient, _ wanted: SecretInfo?) -> WallTime? {
        guard client.entry.undeployed.isEmpty, !isOutdated(client) else { return nil }
        // Actions do not wait for a push that fails, and applications go on with what the API holds.
        var expiries = client.targets.map { targets[$0.target]?.known?.expiresAt }
        guard client.actions.isEmpty else {
            expiries.append(clients[client].deliveries.delivered.firstExpiry(of: client.actions))
            return expiries.firstIfAllAreKnown
        }
        let presumed = presumedPaths(of: client)
        for place in client.places {
            if presumed.contains(place.path) {
                expiries.append(lastDelivered(to: client)?.expiresAt)
                continue
            }
            let slots = files[place.path]?.slots ?? [:]
            for slot in place.slots { expiries.append(slots[slot]?.issued?.expiresAt) }
        }
        if expiries.isEmpty { expiries = [wanted?.expiresAt] }
        return expiries.firstIfAllAreKnown
    }

    private func consecutiveFailures(_ client: ConfiguredClient) -> Int {
        resources(of: client).compactMap { attempts(at: $0, for: client)?.failures }.max() ?? 0
    }

    /// Whether every place of a client, when it was last read, held the wanted secret.
    private func holdsWanted(_ client: ConfiguredClient) -> Bool {
        wantedSecret(client) != nil && lackingPlaces(of: client).isEmpty
    }

    /// The places of a client that did not hold the wanted secret when they were last read, or were not read yet.
    func lackingPlaces(of client: ConfiguredClient) -> [Failure.Place] {
        let wanted = wantedSecret(client)
        let paths = client.places.filter { place in
            !place.slots.allSatisfy { slot in wanted.map { files[place.path]?.holds($0, in: slot) == true } == true }
        }
        let targets = client.targets.filter { !isHeld(wanted, at: $0.target) }
        return paths.map { .path($0.path) } + targets.map { .target($0.target) }
    }

    /// Whether a target holds a secret. A secret put there before the start counts once the API was asked again.
    func isHeld(_ wanted: SecretInfo?, at target: TargetName) -> Bool {
        guard let wanted, let target = targets[target] else { return false }
        return target.wasAsked && target.holds(wanted)
    }

    private func outputView(
        _ output: Output, holding wanted: SecretInfo?, _ timer: inout WakeTimer
    ) -> OutputView {
        let path = output.path
        let file = files[path]
        // Also while the file is read back again: a mere change notice does not make it bad.
        let isHeld = wanted.map { file?.holds($0, in: output.slot) == true } == true
        let (state, failure) = judge(
            .file(path), at: .path(path), isHeld: isHeld, problem: problem(in: output.slot, of: path, to: wanted),
            file?.drift, &timer)
        var view = OutputView(
            path: path, format: output.format, state: state, writtenAt: file?.writtenAt,
            error: failure?.message, repairs: file?.drift.repairCount ?? 0)
        view.failure = failure
        return view
    }

    private func targetView(
        _ name: TargetName, holding wanted: SecretInfo?, _ timer: inout WakeTimer
    ) -> OutputView {
        let target = targets[name]
        let isHeld = isHeld(wanted, at: name)
        var (state, failure) = judge(.target(name), at: .target(name), isHeld: isHeld, target?.drift, &timer)
        if state == .pending, let overdue = overdueService(of: name) { (state, failure) = (.notResponding, overdue) }
        let shown = failure ?? target?.disuse
        var view = OutputView(
            target: name, verified: target?.isVerified(wanted), state: state,
            writtenAt: target?.writtenAt, error: shown?.message, repairs: target?.drift.repairCount ?? 0)
        view.failure = shown
        return view
    }

    /// How a place for a secret is shown, and its problem.
    ///
    /// - Parameter isHeld: whether the wanted secret is there.
    private func judge(
        _ resource: Resource, at place: Failure.Place, isHeld: Bool, problem: Failure? = nil, _ drift: DriftRepairs?,
        _ timer: inout WakeTimer
    ) -> (OutputView.State, Failure?) {
        if let failure = overdueFailure(of: resource) { return (.notResponding, failure) }
        if let failure = jobs.attempts[resource]?.failure {
            return (failure.isSilentWriter ? .notResponding : .failed, failure)
        }
        if let problem { return (.failed, problem) }
        if drift?.isContested(&timer) == true { return (.contested, Failure(.contested, at: place)) }
        return (isHeld ? .ok : .pending, nil)
    }

    private func actionView(
        _ id: ActionID, of client: ConfiguredClient, _ timer: inout WakeTimer
    ) -> ActionView {
        // A probe may fail although every secret was already delivered: the next delivery would fail.
        let failure =
            overdueFailure(of: .action(id), for: client)
            ?? (attempts(at: .action(id), for: client) ?? jobs.attempts[.probe(id)])?
            .failure
        let isPending = wantedSecret(client) == nil || owes(client, id)
        var view = ActionView(
            action: id, state: failure != nil ? .failed : isPending ? .pending : .ok,
            ranAt: clients[client].deliveries.ranAt[id],
            error: failure?.message ?? (isPending ? clients[client].deliveries.failed[id] : nil),
            waitsFor: failure == nil && isPending ? wait(of: id, &timer) : nil)
        view.failure = failure
        return view
    }
}
