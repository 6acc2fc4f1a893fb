import AppleClientSecret
internal import Failures
import Model

/// How well each client is served, and the daemon as a whole, as status, metrics, sd_notify and the journal show it.
///
/// - A client is judged by what its outputs were last seen to hold and what its actions last ran for, in a step that may
///   have changed any of it, or when time alone changes it.
/// - Log events, `on_state_change` and this machine's report in the store (`OwnReport`) depend on it.
struct ClientHealth: Sendable {
    /// As the client was last judged.
    private(set) var view: ClientView?
    /// The state that was last logged.
    private var logged: HealthState = .ok
    /// What was tried for it.
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
        guard let view, (view.health == .ok) != (view.reason == nil) else { return [] }
        return ["it is \(view.health) with another reason"]
    }
}

extension Rotation {
    /// The worst state of a client.
    var worstHealth: HealthState { clients.all.lazy.compactMap { $0.health.view?.health }.max() ?? .ok }

    /// Counts how a job ended, for each client that it was done for.
    mutating func count(_ job: Job, success: Bool) {
        switch job.work {
        case .mint(let name, _, _):
            if let client = index[name] { clients[client].health.tally.mints.count(success: success) }
        case .publish(let spec, let secrets, _):
            // Several variables of a client in one file are still one write.
            for name in Set(secrets.keys.compactMap { spec.slots[$0] }) {
                if let client = index[name] { clients[client].health.tally.publishes.count(success: success) }
            }
        case .push(let name, _, _, _):
            if let client = index[name] { clients[client].health.tally.publishes.count(success: success) }
        case .run(_, let covering):
            for name in covering.keys {
                if let client = index[name] { clients[client].health.tally.deliveries.count(success: success) }
            }
        case .readConfiguration, .checkConfiguration, .readKey, .recall, .readSource, .readStore, .putInStore,
            .putRollout, .putReport, .readReports, .forgetReport, .observe, .keep, .verify, .readTarget, .probe,
            .recallReportedStates, .keepReportedStates, .tidyRecords, .writeMetrics, .removeMetrics:
            break
        }
    }

    /// Computes a client's health from what its files were last seen to hold and what its actions last ran for.
    mutating func judge(_ client: ConfiguredClient, _ deadlines: inout Deadlines) {
        let name = client.name
        let known = clients[client]
        let current = known.secret.current
        let old = known.health.view
        let now = deadlines.now
        let wanted = wantedSecret(client)
        let reasons = reasons(for: client, &deadlines)
        // Before its first try, only what was published earlier is known of it.
        let facts = facts(of: client, &deadlines)
        let found = known.readiness.wasEverTried || !reasons.isEmpty ? nil : facts.judgeOutputs(&deadlines)
        let published = wanted ?? (found?.health == .ok ? found?.secret : nil)
        let outputs =
            client.entry.outputs.map { outputView($0, holding: published, &deadlines) }
            + client.targets.map { target in
                var view = targetView(target.target, holding: wanted, &deadlines)
                if client.entry.undeployed.contains(target.target) { view.deployed = false }
                return view
            }
        let actions = client.actions.map { actionView($0, of: client, &deadlines) }
        // What another program keeps changing may hold the secret now.
        let isDone =
            outputs.allSatisfy { $0.state == .ok || $0.state == .contested } && holdsWanted(client)
            && owedActions(of: client).isEmpty
        let wasDone = old.map { $0.delivered || $0.isUndeployed && $0.health == .ok } ?? false
        let lastSuccessAt = isDone && !wasDone ? now.wall : old?.lastSuccessAt
        var weakest = facts.weakest
        if case .nowhere = weakest, let current { weakest = .held(current) }

        // A clock that may be ahead raises no alarm.
        let isSpared = spared(client, &deadlines) != nil
        if case .held(let secret) = weakest, !isSpared {
            stateChangeActions.see(client.entry.stage(of: secret, &deadlines), of: name, at: now.boot)
        }

        let isServed = isDone || waitsForTurn(client, at: now) || awaitsDeployment(client, &deadlines)
        let lockout = lockout(of: client, holding: weakest, isSpared: isSpared, &deadlines)
        let (health, first) = verdict(
            on: client, isServed: isServed, reasons, beforeItsFirstTry: found, lockout, at: now)
        var reason = first
        // The same failure persists: it began when it was first seen, not now.
        if let old = old?.reason, old.failure == reason?.failure, reason?.since == now.wall {
            reason?.since = old.since
        }
        let view = ClientView(
            name: name, clientID: client.entry.clientID, team: current?.team ?? client.key.team,
            keyID: current?.keyID ?? client.key.keyID, health: health,
            reason: health == .ok ? nil : reason, current: current,
            deliveredExpiresAt: deliveredExpiry(client, wanted),
            renewAt: current.map { renewal(of: $0, client) }, renewals: known.health.tally.mints.successes,
            counts: known.health.tally, publishedAt: outputs.compactMap(\.writtenAt).max(),
            lastSuccessAt: lastSuccessAt,
            consecutiveFailures: reasons.isEmpty ? 0 : consecutiveFailures(client),
            lastError: reasons.first?.failure.message,
            delivered: isDone && client.entry.undeployed.isEmpty, outputs: outputs, actions: actions,
            verification: known.verification?.view, source: sourceView(of: client, at: now))
        if isNews(view, client), clients[client].health.log(health) {
            events.append(.health(name, health, view.reason))
        }
        clients[client].health.set(view)
    }

    /// What a client's health is, and the first reason.
    ///
    /// - Parameters:
    ///   - isServed: whether its outputs and applications have the current secret, or only wait for what takes its time.
    ///   - reasons: what keeps it from being served.
    ///   - found: what its outputs say; nil for a client that was tried.
    ///   - lockout: why its applications are locked out, or soon will be.
    private func verdict(
        on client: ConfiguredClient, isServed: Bool, _ reasons: [Reason], beforeItsFirstTry found: OutputsHealth?,
        _ lockout: Failure?, at now: Now
    ) -> (HealthState, Reason?) {
        func reason(_ failure: Failure) -> Reason { Reason(failure: failure, client: client.name, since: now.wall) }
        let untried = found.map { self.untried(client, $0) }
        let first = reasons.first ?? (untried?.failure).map(reason)
        // By the last good configuration no action runs, and no request is carried out: the remedies of what follows would not work.
        let restraint = configurationWatch.restraint
        if lockout != nil || currentRefusal(client) != nil {
            return (.critical, first ?? (restraint ?? lockout).map(reason))
        }
        let health = untried?.health ?? (isServed && reasons.isEmpty ? .ok : .degraded)
        guard health == .degraded, first == nil else { return (health, first) }
        let failure =
            restraint ?? Failure(isPublished(client, at: now) ? .notDelivered : .notPublished, at: .client(client.name))
        return (.degraded, reason(failure))
    }

    /// The health of a client that was not tried yet, and why it is degraded. Why it is critical follows from what its outputs
    /// and applications hold, as for one that was tried.
    private func untried(
        _ client: ConfiguredClient, _ found: OutputsHealth
    ) -> (health: HealthState, failure: Failure?) {
        if let health = found.health { return (health, health == .degraded ? found.failure : nil) }
        // Outputs that were not read yet count as good if the state directory holds a secret for them or was not asked yet.
        let record = clients[client].record
        let mayBeGood = client.entry.outputs.isEmpty || !record.wasTried || record.value.current != nil
        return mayBeGood ? (.ok, nil) : (.degraded, Failure(.notPublished, at: .client(client.name)))
    }

    /// Why the applications of a client are locked out, or soon will be; nil while they are not.
    private func lockout(
        of client: ConfiguredClient, holding weakest: ClientFacts.Weakest, isSpared: Bool, _ deadlines: inout Deadlines
    ) -> Failure? {
        switch weakest {
        case .lockedOut(let path, let found):
            if case .refused = found {
                found.failure(at: path)?.concerning(client.name)
            } else {
                unserved(client)
            }
        case .empty: unserved(client)
        case .nowhere: isKnown(client) ? unserved(client) : nil
        case .held(let secret): isSpared ? nil : client.entry.shortLife(of: secret, client.name, &deadlines)
        case .unknown: nil
        }
    }

    /// The failure of a client whose applications find no secret.
    private func unserved(_ client: ConfiguredClient) -> Failure {
        Failure(wantedSecret(client) == nil ? .noSecret : .notPublished, at: .client(client.name))
    }

    /// What a client's outputs, APIs and applications were last seen to hold.
    private func facts(of client: ConfiguredClient, _ deadlines: inout Deadlines) -> ClientFacts {
        var facts = ClientFacts(
            name: client.name, entry: client.entry, keys: knownKeys(client), current: clients[client].secret.current,
            clock: clock, builtAt: builtAt, isUnderWay: !clients[client].readiness.wasTried)
        facts.findOutputs(
            reading: { path in
                if let slots = files[path]?.slots { return .success(slots) }
                return jobs.attempts[.file(path)].map { .failure($0.failure) }
            }, refusal: { refusal(of: $0, for: client, &deadlines) })
        facts.pushed = client.targets.map { targets[$0.target]?.known }
        let wanted = wantedSecret(client)
        facts.hasEmptyPlace = client.targets.contains {
            client.entry.lacksSecret(targets[$0.target]?.shown, wanted: wanted, clock: clock, &deadlines)
        }
        facts.delivered = client.actions.compactMap { secretInUse(by: $0, of: client) }
        return facts
    }

    /// Whether to log a health change: not while a renewal is merely under way, nor before the client was tried, when
    /// it is expected not to be served yet.
    private func isNews(_ view: ClientView, _ client: ConfiguredClient) -> Bool {
        clients[client].readiness.wasTried && !view.isUnderWay
    }

    /// When the first secret that applications hold expires: of those last delivered, or without actions of those in
    /// the outputs. Nil when one of them holds nothing, or has to be deployed by a user.
    private func deliveredExpiry(_ client: ConfiguredClient, _ wanted: SecretInfo?) -> WallTime? {
        guard client.entry.undeployed.isEmpty else { return nil }
        var expiries = client.actions.map { secretInUse(by: $0, of: client)?.expiresAt }
        if expiries.isEmpty {
            for place in client.places {
                let slots = files[place.path]?.slots ?? [:]
                for slot in place.slots { expiries.append(slots[slot]?.issued?.expiresAt) }
            }
            for output in client.targets { expiries.append(targets[output.target]?.known?.expiresAt) }
        }
        if expiries.isEmpty { expiries = [wanted?.expiresAt] }
        return expiries.contains(nil) ? nil : expiries.compactMap { $0 }.min()
    }

    private func consecutiveFailures(_ client: ConfiguredClient) -> Int {
        resources(of: client).compactMap { attempts(at: $0, for: client)?.failures }.max() ?? 0
    }

    /// Whether every place of a client, when it was last read, held the wanted secret.
    private func holdsWanted(_ client: ConfiguredClient) -> Bool {
        guard let wanted = wantedSecret(client) else { return false }
        return client.entry.outputs.allSatisfy { files[$0.path]?.holds(wanted, in: $0.slot) == true }
            && client.targets.allSatisfy { targets[$0.target]?.holds(wanted) == true }
    }

    private func outputView(
        _ output: Output, holding wanted: SecretInfo?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let path = output.path
        let file = files[path]
        // Also while it is read back again: a change notice alone does not make a file bad.
        let isHeld = wanted.map { file?.holds($0, in: output.slot) == true } == true
        let (state, failure) = judge(
            .file(path), at: .path(path), isHeld: isHeld, problem: problem(in: output.slot, of: path, to: wanted),
            file?.drift, &deadlines)
        return OutputView(
            path: path, format: output.format, state: state, writtenAt: file?.writtenAt,
            error: failure?.message, repairs: file?.drift.repairCount ?? 0)
    }

    private func targetView(
        _ name: TargetName, holding wanted: SecretInfo?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let target = targets[name]
        let isHeld = wanted.map { target?.holds($0) == true } == true
        let (state, failure) = judge(.target(name), at: .target(name), isHeld: isHeld, target?.drift, &deadlines)
        return OutputView(
            target: name, verified: target?.sight.isVerified, state: state,
            writtenAt: target?.writtenAt,
            error: (failure ?? target?.disuse)?.message, repairs: target?.drift.repairCount ?? 0)
    }

    /// How a place for a secret is shown, and what is wrong with it.
    ///
    /// - Parameter isHeld: whether the wanted secret is there.
    private func judge(
        _ resource: Resource, at place: Failure.Place, isHeld: Bool, problem: Failure? = nil, _ drift: Drift?,
        _ deadlines: inout Deadlines
    ) -> (OutputView.State, Failure?) {
        if let failure = overdueFailure(of: resource) { return (.notResponding, failure) }
        if let failure = jobs.attempts[resource]?.failure { return (.failed, failure) }
        if let problem { return (.failed, problem) }
        if drift?.isContested(&deadlines) == true { return (.contested, Failure(.contested, at: place)) }
        return (isHeld ? .ok : .pending, nil)
    }

    private func actionView(
        _ id: ActionID, of client: ConfiguredClient, _ deadlines: inout Deadlines
    ) -> ActionView {
        // A probe may fail although every secret was already delivered: the next delivery would fail.
        let failure =
            overdueFailure(of: .action(id), for: client)
            ?? (attempts(at: .action(id), for: client) ?? jobs.attempts[.probe(id)])?
            .failure
        let isPending = wantedSecret(client) == nil || owes(client, id)
        return ActionView(
            action: id, state: failure != nil ? .failed : isPending ? .pending : .ok,
            ranAt: clients[client].deliveries.ranAt[id], error: failure?.message,
            waitsFor: failure == nil && isPending ? wait(of: id, &deadlines) : nil)
    }
}
