import AppleClientSecret
internal import Failures

/// How well each client is served, and the daemon as a whole, as status, metrics, sd_notify and the journal show it.
///
/// - A client is judged by what its outputs were last seen to hold and what its actions last ran for, in a step that may
///   have changed any of it, or when time alone changes it.
/// - It only reads what the other machines know. Log events, `on_state_change` and this machine's report in the store
///   (`Reporting`) depend on it.
struct Health: Sendable {
    private var views: [ClientName: ClientViews.Shared] = [:]
    /// How many clients are in each state.
    private var counts: [HealthState: Int] = [:]
    /// The state of each client that was last logged.
    private var logged: [ClientName: HealthState] = [:]
    /// What was tried for each client.
    private var tallies: [ClientName: Counts] = [:]
    /// The faults of the daemon as a whole.
    private(set) var faults: [DaemonFault] = []

    /// A fault of the daemon as a whole, such as having no place for its socket.
    struct DaemonFault: Hashable, Sendable {
        let failure: Failure
        let since: WallTime
        /// When the daemon tries again by itself; nil when it does not.
        var nextAttempt: BootTime?
    }

    subscript(_ client: ClientName) -> ClientView? { views[client]?.view }

    func shared(_ client: ClientName) -> ClientViews.Shared? { views[client] }

    func tally(of client: ClientName) -> Counts { tallies[client] ?? Counts() }

    /// The worst state of a client.
    var worst: HealthState { HealthState.allCases.last { counts[$0, default: 0] > 0 } ?? .ok }

    mutating func adopt(_ index: Index) {
        views = views.filter { index.subjects[$0.key] != nil }
        counts = views.values.reduce(into: [:]) { $0[$1.view.health, default: 0] += 1 }
        logged = logged.filter { index.subjects[$0.key] != nil }
        tallies = index.subjects.states(from: tallies, else: Counts())
    }

    /// Raises a fault of the daemon; returns whether it is news.
    mutating func raise(_ failure: Failure, _ nextAttempt: BootTime?, at now: Now) -> Bool {
        if let known = faults.firstIndex(where: { $0.failure == failure }) {
            faults[known].nextAttempt = nextAttempt
            return false
        }
        faults.removeAll { $0.failure.code == failure.code }
        faults.append(DaemonFault(failure: failure, since: now.wall, nextAttempt: nextAttempt))
        return true
    }

    /// Clears the faults with a code; returns them.
    mutating func clear(_ code: Failure.Code) -> [Failure] {
        defer { faults.removeAll { $0.failure.code == code } }
        return faults.map(\.failure).filter { $0.code == code }
    }

    /// Counts how a job ended, for each client that it was done for.
    mutating func count(_ job: Job, success: Bool) {
        switch job.work {
        case .mint(let client, _, _): tallies[client]?.mints.count(success: success)
        case .publish(let spec, let secrets, _):
            // Several variables of a client in one file are still one write.
            for client in Set(secrets.keys.compactMap { spec.slots[$0] }) {
                tallies[client]?.publishes.count(success: success)
            }
        case .push(let client, _, _, _): tallies[client]?.publishes.count(success: success)
        case .run(_, let covering):
            for client in covering.keys { tallies[client]?.deliveries.count(success: success) }
        case .readConfiguration, .checkConfiguration, .readKey, .recall, .readSource, .readStore, .putInStore,
            .putRollout, .putReport, .readReports, .forgetReport, .observe, .keep, .verify, .readTarget, .probe,
            .recallReportedStates, .keepReportedStates, .tidyRecords:
            break
        }
    }

    /// Counts a secret that was received from a client's source.
    mutating func countReceived(_ client: ClientName) {
        tallies[client]?.received += 1
    }

    /// Replaces what is known of a client.
    fileprivate mutating func set(_ view: ClientView) {
        if let old = views.updateValue(ClientViews.Shared(view), forKey: view.name) {
            counts[old.view.health, default: 0] -= 1
        }
        counts[view.health, default: 0] += 1
    }

    /// Records that a client's state was logged; returns whether it differs from the one that was logged last.
    fileprivate mutating func log(_ view: ClientView) -> Bool {
        guard logged[view.name, default: .ok] != view.health else { return false }
        logged[view.name] = view.health
        return true
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        var broken: [String] = []
        let actual = views.values.reduce(into: [HealthState: Int]()) { $0[$1.view.health, default: 0] += 1 }
        if counts.filter({ $0.value != 0 }) != actual { broken.append("clients are miscounted by their health") }
        if !views.keys.allSatisfy({ configuration.clients[$0] != nil }) { broken.append("health of nobody") }
        for view in views.values.map(\.view) where (view.health == .ok) != (view.reason == nil) {
            broken.append("\(view.name) is \(view.health) with another reason")
        }
        if Set(faults.map(\.failure.code)).count != faults.count { broken.append("a fault was raised twice") }
        return broken
    }
}

extension Rotation {
    /// Computes a client's health from what its files were last seen to hold and what its actions last ran for.
    mutating func judge(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard let state = renewal[name] else { return }
        let old = self.health.shared(name)
        let now = deadlines.now
        let wanted = wantedSecret(client)
        let failures = reasons(for: client, &deadlines)
        // Before its first try, only what was published earlier is known of it.
        let found = readiness.wasEverTried(name) || !failures.isEmpty ? nil : evaluate(client, &deadlines)
        let published = wanted ?? (found?.health == .ok ? found?.secret : nil)
        let outputs =
            client.entry.outputs.map { outputView($0, holding: published, &deadlines) }
            + client.targets.map { target in
                var view = targetView(target.target, holding: wanted, &deadlines)
                if client.entry.undeployed.contains(target.target) { view.deployed = false }
                return view
            }
        let actions = client.actions.map { actionView($0, of: name) }
        let isDone =
            wanted != nil && outputs.allSatisfy { $0.state == .ok } && !client.actions.contains { owes(name, $0) }
        let wasDone = old.map { $0.view.delivered || $0.view.isUndeployed && $0.view.health == .ok } ?? false
        let lastSuccessAt = isDone && !wasDone ? now.wall : old?.view.lastSuccessAt
        let held = client.actions.map { self.held(by: $0, of: client)?.expiresAt }
        let remaining = weakest(client, state, holding: held, &deadlines)

        let isServed = isDone || waitsForTurn(client) || awaitsDeployment(client, &deadlines)
        var health: HealthState = isServed && failures.isEmpty ? .ok : .degraded
        var reason = failures.first
        if let found {
            // Outputs that were not read yet count as good if the state directory holds a secret for them or was not
            // asked yet.
            let mayBeGood =
                client.entry.outputs.isEmpty || !records.wasRecalled(name) || records.kept(name)?.current != nil
            let unseen = mayBeGood ? nil : Failure(.notPublished, at: .client(name))
            health = found.health ?? (unseen == nil ? .ok : .degraded)
            // The reason for critical is set below, as for a client that was tried.
            if health == .degraded, let failure = found.health == nil ? unseen : found.failure {
                reason = Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
            }
        }
        // By a clock that may be ahead nobody is alarmed.
        let isSpared = spared(client, &deadlines) != nil
        if case .until(let expiry) = remaining, !isSpared {
            stateChangeActions.see(
                client.entry.stage(expiringAt: expiry, state.current, &deadlines), of: name, at: now.boot)
        }
        switch remaining {
        case .none:
            health = .critical
            reason =
                reason
                ?? Reason(
                    failure: Failure(wanted == nil ? .noSecret : .notPublished, at: .client(name)), client: name,
                    since: now.wall, nextAttempt: nil)
        case .refused(let path, let objection):
            health = .critical
            reason =
                reason
                ?? Reason(
                    failure: objection.failure(at: path).concerning(name), client: name, since: now.wall,
                    nextAttempt: nil)
        case .until where isSpared: break
        case .until(let expiry):
            let isExpired = deadlines.reached(expiry)
            if isExpired || deadlines.reached(expiry - client.entry.criticalRemainder(of: state.current)) {
                health = .critical
                let failure = Failure(
                    isExpired ? .secretExpired : .secretExpiring, at: .client(name), detail: expiry.description)
                reason = reason ?? Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
            }
        case .unknown:
            break
        }
        if refusalInForce(name) != nil { health = .critical }
        if health == .degraded, reason == nil {
            let failure = Failure(isPublished(name) ? .notDelivered : .notPublished, at: .client(name))
            reason = Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
        }
        // The same failure persists: it began when it was first seen, not now.
        if let old = old?.view.reason, old.failure == reason?.failure, reason?.since == now.wall {
            reason?.since = old.since
        }
        let view = ClientView(
            name: name, clientID: client.entry.clientID, team: client.key.team, keyID: client.key.keyID, health: health,
            reason: health == .ok ? nil : reason, current: state.current,
            deliveredExpiresAt: deliveredExpiry(client, holding: held, wanted),
            renewAt: state.current.map { renewal(of: $0, client.entry) }, renewals: state.renewals,
            counts: self.health.tally(of: name), publishedAt: outputs.compactMap(\.writtenAt).max(),
            lastSuccessAt: lastSuccessAt,
            consecutiveFailures: failures.isEmpty ? 0 : consecutiveFailures(name),
            lastError: failures.first?.failure.message,
            delivered: isDone && client.entry.undeployed.isEmpty, outputs: outputs, actions: actions,
            verification: verification.view(of: name), source: sourceView(of: client, at: now))
        if isNews(view), self.health.log(view) { events.append(.health(view.name, view.health, view.reason)) }
        self.health.set(view)
    }

    /// The client's health by what its outputs were last seen to hold, and nothing else.
    private func evaluate(_ client: Subject, _ deadlines: inout Deadlines) -> HealthEvaluation {
        client.entry.evaluate(
            client.name, keys: knownKeys(client), clockIsTrusted: clock.failure == nil, isUnderWay: true,
            found: { [destinations] path in destinations[path]?.observed.map { .success($0) } }, &deadlines)
    }

    /// Whether to log a health change: not while a renewal is merely under way, nor before the client was tried, when
    /// it is expected not to be served yet.
    private func isNews(_ view: ClientView) -> Bool {
        let isUnderWay =
            [.notPublished, .notDelivered].contains(view.reason?.failure.code) && view.health == .degraded
        return !readiness.isUntried(view.name) && !isUnderWay
    }

    /// The remaining life of whichever secret, held by an output or an application, expires first.
    private enum Remaining {
        case unknown
        /// Some output holds no usable secret at all.
        case none
        /// Some output holds a secret that Apple refuses, not merely because it has expired.
        case refused(AbsolutePath, Objection)
        case until(WallTime)
    }

    private func weakest(
        _ client: Subject, _ state: Renewal.State, holding held: [WallTime?], _ deadlines: inout Deadlines
    ) -> Remaining {
        var expiries: [WallTime] = []
        var isUnknown = false
        let isUnderWay = readiness.isUntried(client.name)
        for place in client.places {
            guard let observed = destinations[place.path]?.observed else {
                // Unknown if not read yet. If reading it failed, no application can read it either, unless the failure
                // says nothing of the file.
                if let attempts = jobs.attempts[.file(place.path)], !attempts.failure.code.traits.contains(.ofReader) {
                    return .none
                }
                isUnknown = true
                continue
            }
            for slot in place.slots {
                // While the client is being tried, a missing secret is still to come.
                if isUnderWay, observed.slots[slot] == nil {
                    isUnknown = true
                    continue
                }
                guard let issued = observed.slots[slot]?.issued else {
                    if case .unusable(let objection?) = observed.slots[slot] { return .refused(place.path, objection) }
                    return .none
                }
                switch refusal(of: issued, for: client, &deadlines) {
                case nil, .expired: expiries.append(issued.expiresAt)
                case let objection?: return .refused(place.path, objection)
                }
            }
        }
        for output in client.targets {
            // Something else there may well be valid: it was put there by somebody.
            if let known = targets[output.target]?.known {
                expiries.append(known.expiresAt)
            } else {
                isUnknown = true
            }
        }
        // Never delivered is degraded, not critical: an application that has read nothing yet can still start.
        expiries += held.compactMap { $0 }
        if let earliest = expiries.min() { return .until(earliest) }
        if isUnknown { return .unknown }
        return state.current.map { .until($0.expiresAt) } ?? (isKnown(client.name) ? .none : .unknown)
    }

    /// When the first secret that applications hold expires: of those last delivered, or without actions of those in
    /// the outputs. Nil when one of them holds nothing, or has to be deployed by somebody else.
    private func deliveredExpiry(_ client: Subject, holding held: [WallTime?], _ wanted: SecretInfo?) -> WallTime? {
        guard client.entry.undeployed.isEmpty else { return nil }
        var expiries = held
        if expiries.isEmpty {
            for place in client.places {
                let observed = destinations[place.path]?.observed?.slots ?? [:]
                for slot in place.slots { expiries.append(observed[slot]?.issued?.expiresAt) }
            }
            for output in client.targets { expiries.append(targets[output.target]?.known?.expiresAt) }
        }
        if expiries.isEmpty { expiries = [wanted?.expiresAt] }
        return expiries.contains(nil) ? nil : expiries.compactMap { $0 }.min()
    }

    private func consecutiveFailures(_ name: ClientName) -> Int {
        resources(of: name).compactMap { attempts(at: $0, for: name)?.failures }.max() ?? 0
    }

    private func outputView(
        _ output: Output, holding wanted: SecretInfo?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let path = output.path
        let file = destinations[path]
        let isContested = file?.drift.isContested(&deadlines) == true
        let isDeleted = isDeleted(path)
        let hang = hang(of: .file(path))
        let attempts = jobs.attempts[.file(path)]
        let state: OutputView.State =
            if hang != nil {
                .notResponding
            } else if attempts != nil || isDeleted {
                .failed
            } else if isContested {
                .contested
            } else if let wanted, file?.holds(wanted, in: output.slot) == true {
                // Also while it is read back again: a change notice alone does not make a file bad.
                .ok
            } else {
                .pending
            }
        let failure =
            hang ?? attempts?.failure
            ?? (isDeleted ? Failure(.outputDeleted, at: .path(path)) : nil)
            ?? (isContested ? Failure(.contested, at: .path(path)) : nil)
        return OutputView(
            path: path, format: output.format, state: state, writtenAt: file?.writtenAt,
            error: failure?.message, repairs: file?.drift.repairCount ?? 0)
    }

    private func targetView(
        _ name: TargetName, holding wanted: SecretInfo?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let target = targets[name]
        let isContested = target?.drift.isContested(&deadlines) == true
        let failure =
            jobs.attempts[.target(name)]?.failure ?? (isContested ? Failure(.contested, at: .target(name)) : nil)
        let state: OutputView.State =
            if jobs.attempts[.target(name)] != nil {
                .failed
            } else if isContested {
                .contested
            } else if let wanted, target?.holds(wanted) == true {
                .ok
            } else {
                .pending
            }
        return OutputView(
            target: name, verified: target?.verified, state: state, writtenAt: target?.writtenAt,
            error: failure?.message, repairs: target?.drift.repairCount ?? 0)
    }

    private func actionView(_ id: ActionID, of client: ClientName) -> ActionView {
        // A probe may fail although every secret was already delivered: the next delivery would fail.
        let failed = attempts(at: .action(id), for: client) ?? jobs.attempts[.probe(id)]
        let isPending = wantedSecret(client) == nil || owes(client, id)
        return ActionView(
            action: id, state: failed != nil ? .failed : isPending ? .pending : .ok,
            ranAt: delivery[client]?.ranAt[id], error: failed?.failure.message)
    }
}
