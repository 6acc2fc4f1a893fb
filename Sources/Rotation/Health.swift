import AppleClientSecret
internal import Failures

extension Rotation {
    /// Computes a client's health from what its files were last seen to hold and what its actions last ran for.
    mutating func judge(_ client: Subject, at now: Now) {
        let name = client.name
        let entry = client.entry
        guard let state = world.clients[name] else { return }
        let old = views[name]
        var deadlines = Deadlines(now: now)
        defer { wakes[.client(name)].formEarliest(with: deadlines.wake) }
        let wanted = wantedSecret(client)
        let failures = reasons(for: client, &deadlines)
        // Before its first try, only what was published earlier is known of it. These deadlines need no wake: every
        // step of that try judges the client again.
        var passing = Deadlines(now: now)
        let found = wasEverTried.contains(name) || !failures.isEmpty ? nil : evaluate(client, &passing)
        let published = wanted ?? (found?.health == .ok ? found?.secret : nil)
        let outputs = entry.outputs.map { outputView($0, holding: published, &deadlines) }
        let actions = client.actions.map { actionView($0, of: name) }
        let isDone =
            wanted != nil && outputs.allSatisfy { $0.state == .ok } && !client.actions.contains { owes(name, $0) }
        var lastSuccessAt = state.lastSuccessAt
        if isDone, old?.delivered != true {
            lastSuccessAt = now.wall
            world.clients[name]?.lastSuccessAt = now.wall
        }
        let held = client.actions.map { self.held(by: $0, of: client)?.expiresAt }
        let remaining = weakest(client, state, holding: held)

        var health: HealthState = isDone && failures.isEmpty ? .ok : .degraded
        var reason = failures.first
        if let found {
            // Outputs that were not read yet count as good if the state directory holds a secret for them or was not
            // asked yet.
            let mayBeGood = entry.outputs.isEmpty || !state.wasRecalled || state.kept.current != nil
            let unseen = mayBeGood ? nil : Failure(.notPublished, at: .client(name))
            health = found.health ?? (unseen == nil ? .ok : .degraded)
            // The reason for critical is set below, as for a client that was tried.
            if health == .degraded, let failure = found.health == nil ? unseen : found.failure {
                reason = Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
            }
        }
        if case .until(let expiry) = remaining {
            stateChangeActions.see(entry.stage(expiringAt: expiry, &deadlines), of: name, at: now.boot)
        }
        switch remaining {
        case .none:
            health = .critical
            reason =
                reason
                ?? Reason(
                    failure: Failure(wanted == nil ? .noSecret : .notPublished, at: .client(name)), client: name,
                    since: now.wall, nextAttempt: nil)
        case .until(let expiry):
            let isExpired = deadlines.reached(expiry)
            if isExpired || deadlines.reached(expiry - entry.criticalRemainder) {
                health = .critical
                let failure = Failure(
                    isExpired ? .secretExpired : .secretExpiring, at: .client(name), detail: expiry.description)
                reason = reason ?? Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
            }
        case .unknown:
            break
        }
        if health == .degraded, reason == nil {
            let failure = Failure(isPublished(name) ? .notDelivered : .notPublished, at: .client(name))
            reason = Reason(failure: failure, client: name, since: now.wall, nextAttempt: nil)
        }
        // The same failure persists: it began when it was first seen, not now.
        if let old = old?.reason, old.failure == reason?.failure, reason?.since == now.wall {
            reason?.since = old.since
        }
        let view = ClientView(
            name: name, clientID: entry.clientID, team: client.key.team, keyID: client.key.keyID, health: health,
            reason: health == .ok ? nil : reason, current: state.current,
            deliveredExpiresAt: deliveredExpiry(client, holding: held, wanted),
            renewAt: state.current.map { renewal(of: $0, entry) }, renewals: state.renewals,
            counts: state.counts, publishedAt: outputs.compactMap(\.writtenAt).max(),
            lastSuccessAt: lastSuccessAt,
            consecutiveFailures: failures.isEmpty ? 0 : consecutiveFailures(name),
            lastError: failures.first?.failure.message,
            delivered: isDone, outputs: outputs, actions: actions)
        tell(view)
        views[name] = view
        if let old { healthCounts[old.health, default: 0] -= 1 }
        healthCounts[view.health, default: 0] += 1
    }

    /// The client's health by what its outputs were last seen to hold, and nothing else.
    private func evaluate(_ client: Subject, _ deadlines: inout Deadlines) -> HealthEvaluation {
        client.entry.evaluate(
            client.name, key: client.key, world.keys[client.entry.key]?.print.map(SignatureEvidence.key) ?? .remembered,
            isUnderWay: true, found: { path in world.files[path]?.observed.map { .success($0) } }, &deadlines)
    }

    private func renewal(of issued: SecretInfo, _ entry: ClientConfiguration) -> WallTime {
        isRestrained
            ? issued.expiresAt - entry.criticalRemainder : entry.renewal(of: issued, jitter: hostJitter)
    }

    /// Whether to log a health change: not while a renewal is merely under way, nor before the client was tried, when
    /// it is expected not to be served yet.
    private func isNews(_ view: ClientView) -> Bool {
        let isUnderWay =
            [.notPublished, .notDelivered].contains(view.reason?.failure.code) && view.health == .degraded
        return !untried.contains(view.name) && !isUnderWay && told[view.name, default: .ok] != view.health
    }

    mutating func tell(_ view: ClientView) {
        guard isNews(view) else { return }
        told[view.name] = view.health
        changes.append(.health(view.name, view.health, view.reason))
    }

    /// The remaining life of whichever secret, held by an output or an application, expires first.
    private enum Remaining {
        case unknown
        /// Some output holds no usable secret at all.
        case none
        case until(WallTime)
    }

    private func weakest(_ client: Subject, _ state: ClientState, holding held: [WallTime?]) -> Remaining {
        let print = world.keys[client.entry.key]?.print
        var expiries: [WallTime] = []
        var isUnknown = false
        let isUnderWay = untried.contains(client.name)
        for place in client.places {
            guard let observed = world.files[place.path]?.observed else {
                // Unknown if not read yet; if reading it failed, no application can read it either.
                if world.attempts[.file(place.path)] != nil { return .none }
                isUnknown = true
                continue
            }
            for slot in place.slots {
                // While the client is being tried, a missing secret is still to come.
                if isUnderWay, observed.slots[slot] == nil {
                    isUnknown = true
                    continue
                }
                guard let issued = observed.slots[slot]?.issued, client.entry.serves(issued, isVerifiable: print != nil)
                else { return .none }
                expiries.append(issued.expiresAt)
            }
        }
        // Never delivered is degraded, not critical: an application that has read nothing yet can still start.
        expiries += held.compactMap { $0 }
        if let earliest = expiries.min() { return .until(earliest) }
        if isUnknown { return .unknown }
        return state.current.map { .until($0.expiresAt) } ?? (isKnown(client.name) ? .none : .unknown)
    }

    /// When the first secret that applications hold expires: of those last delivered, or without actions of those in
    /// the outputs. Nil when one of them holds nothing.
    private func deliveredExpiry(_ client: Subject, holding held: [WallTime?], _ wanted: SecretInfo?) -> WallTime? {
        var expiries = held
        if expiries.isEmpty {
            for place in client.places {
                let observed = world.files[place.path]?.observed?.slots ?? [:]
                for slot in place.slots { expiries.append(observed[slot]?.issued?.expiresAt) }
            }
        }
        if expiries.isEmpty { expiries = [wanted?.expiresAt] }
        return expiries.contains(nil) ? nil : expiries.compactMap { $0 }.min()
    }

    private func consecutiveFailures(_ name: ClientName) -> Int {
        resources(of: name).compactMap { attempts(at: $0, for: name)?.failures }.max() ?? 0
    }

    /// What keeps a client from being served, in processing order: the first reason explains the others.
    private func reasons(for client: Subject, _ deadlines: inout Deadlines) -> [Reason] {
        let name = client.name
        let now = deadlines.now
        var reasons: [Reason] = []
        if let failure = clock.failure, let since = clock.since {
            reasons.append(Reason(failure: failure, client: nil, since: since, nextAttempt: nil))
        }
        let hasAnyFailure = !world.attempts.isEmpty || !overdue.isEmpty
        for resource in hasAnyFailure ? resources(of: name) : [] {
            if let job = world.running[resource], let failure = hang(of: resource) {
                let began = now.wall - now.boot.seconds(since: job.startedAt)
                reasons.append(Reason(failure: failure, client: name, since: began, nextAttempt: nil))
            } else if let attempts = attempts(at: resource, for: name) {
                reasons.append(
                    Reason(
                        failure: attempts.failure, client: name, since: attempts.since,
                        nextAttempt: nextAttempt(attempts, at: resource, now)))
            }
        }
        for path in client.files where isVanished(path) {
            reasons.append(
                Reason(
                    failure: Failure(.environmentFileDeleted, at: .path(path)), client: name,
                    since: now.wall, nextAttempt: nil))
        }
        for path in client.files {
            guard let drift = world.files[path]?.drift, drift.isContested(&deadlines) else { continue }
            reasons.append(
                Reason(
                    failure: Failure(.contested, at: .path(path)), client: name, since: now.wall,
                    nextAttempt: drift.nextRepair.flatMap { Self.upcoming($0, now) }))
        }
        // A key change blocks nothing, so it comes last and does not hide a reason that does.
        if let change = change(of: client.entry.key, &deadlines) {
            reasons.append(
                Reason(
                    failure: change.failure(of: client.entry.key), client: name, since: change.at, nextAttempt: nil))
        }
        return reasons
    }

    /// When the failed work is tried again; nil while it is running.
    private func nextAttempt(_ attempts: Attempts, at resource: Resource, _ now: Now) -> WallTime? {
        world.running[resource] == nil ? Self.upcoming(attempts.notBefore, now) : nil
    }

    /// A moment as wall clock time; nil when it has come: work that then still waits for something else starts as soon
    /// as that is there, and showing a time in the past would be useless.
    private static func upcoming(_ moment: BootTime, _ now: Now) -> WallTime? {
        moment > now.boot ? now.wall + Seconds((moment.milliseconds - now.boot.milliseconds + 999) / 1000) : nil
    }

    private func outputView(
        _ output: Output, holding wanted: SecretInfo?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let path = output.path
        let file = world.files[path] ?? FileState()
        let isContested = file.drift.isContested(&deadlines)
        let isVanished = isVanished(path)
        let hang = hang(of: .file(path))
        let attempts = world.attempts[.file(path)]
        let state: OutputView.State =
            if hang != nil {
                .notResponding
            } else if attempts != nil || isVanished {
                .failed
            } else if isContested {
                .contested
            } else if let wanted, file.holds(wanted, in: output.slot) {
                // Also while it is read back again: a change notice alone does not make a file bad.
                .ok
            } else {
                .pending
            }
        let failure =
            hang ?? attempts?.failure
            ?? (isVanished ? Failure(.environmentFileDeleted, at: .path(path)) : nil)
            ?? (isContested ? Failure(.contested, at: .path(path)) : nil)
        return OutputView(
            path: path, format: output.format, state: state, writtenAt: file.writtenAt,
            error: failure?.message, repairs: file.drift.repairCount)
    }

    private func actionView(_ id: ActionID, of client: ClientName) -> ActionView {
        // A probe may fail although every secret was already delivered: the next delivery would fail.
        let failed = attempts(at: .action(id), for: client) ?? world.attempts[.probe(id)]
        let isPending = wantedSecret(client) == nil || owes(client, id)
        return ActionView(
            action: id, state: failed != nil ? .failed : isPending ? .pending : .ok,
            ranAt: world.clients[client]?.ranAt[id], error: failed?.failure.message)
    }

    /// The daemon's state at `now`, as status, metrics, sd_notify and the journal show it.
    package func snapshot(at now: Now) -> Snapshot {
        let clients = names.compactMap { views[$0] }
        var health = clients.map(\.health).max() ?? .ok
        var reason = clients.first { $0.health == health && $0.reason?.failure.code != .keyChanged }?.reason
        let change = clients.first { $0.health == health }?.reason
        if let failure = refusalFailure ?? restraint {
            health = max(health, .degraded)
            if health == .degraded || reason == nil {
                reason = Reason(failure: failure, client: nil, since: refusedAt ?? startedAt, nextAttempt: nil)
            }
        }
        if let failure = clock.failure, let since = clock.since {
            health = max(health, .degraded)
            reason = reason ?? Reason(failure: failure, client: nil, since: since, nextAttempt: nil)
        }
        if let lack = daemonFaults.first {
            health = max(health, .degraded)
            let next = lack.nextAttempt.flatMap { Self.upcoming($0, now) }
            reason = reason ?? Reason(failure: lack.failure, client: nil, since: lack.since, nextAttempt: next)
        }
        if let (resource, attempts) = stateChangeFailure {
            let next = nextAttempt(attempts, at: resource, now)
            health = max(health, .degraded)
            reason =
                reason ?? Reason(failure: attempts.failure, client: nil, since: attempts.since, nextAttempt: next)
        }
        return Snapshot(
            startedAt: startedAt, ready: isReady && !isStopping, health: health,
            reason: health == .ok ? nil : reason ?? change, clockTrusted: clock.failure == nil,
            configuration: ConfigurationView(
                path: configurationPath, loadedAt: configurationLoadedAt,
                error: refusal.map { $0.joined(separator: "\n") } ?? restraint?.message),
            clients: clients)
    }

    private var refusalFailure: Failure? {
        refusal.map { Failure(.configurationRefused, at: .named(configurationPath), detail: $0.first) }
    }

    /// Why no action runs and nothing is minted but what becomes critical; nil without that restraint.
    var restraint: Failure? {
        guard isRestrained else { return nil }
        return refusalFailure ?? Failure(.configurationNotAdopted, at: .named(configurationPath))
    }
}
