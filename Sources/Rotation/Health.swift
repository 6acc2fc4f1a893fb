import AppleClientSecret

extension Rotation {
    /// Reckons how a client stands, from what its files were seen to hold and what its actions last ran for.
    mutating func judge(_ client: Subject, at now: Now) {
        let name = client.name
        let entry = client.entry
        guard let state = world.clients[name] else { return }
        let old = views[name]
        var deadlines = Deadlines(now: now)
        defer { wakes[.client(name)].formEarliest(with: deadlines.wake) }
        let wanted = wantedSecret(client)
        let troubles = reasons(for: client, &deadlines)
        // Until it was tried once, all that can be said is what was published before.
        // It is judged anew with every step of being tried, and leaves no wake behind.
        var passing = Deadlines(now: now)
        let found = wasEverTried.contains(name) || !troubles.isEmpty ? nil : appraise(client, &passing)
        let published = wanted ?? (found?.standing == .ok ? found?.secret : nil)
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

        var standing: Standing = isDone && troubles.isEmpty ? .ok : .degraded
        var reason = troubles.first
        if let found {
            // What nobody has looked at yet is good as far as the state directory knows of a secret for it, or has not been
            // asked.
            let mayBeGood = entry.outputs.isEmpty || !state.wasRecalled || state.kept.current != nil
            let unseen = mayBeGood ? nil : Trouble(.notPublished, at: .client(name))
            standing = found.standing ?? (unseen == nil ? .ok : .degraded)
            // What is critical is put in words below, like that of a client that was tried.
            if standing == .degraded, let trouble = found.standing == nil ? unseen : found.trouble {
                reason = Reason(trouble: trouble, client: name, since: now.wall, nextAttempt: nil)
            }
        }
        if case .until(let expiry) = remaining {
            notices.see(entry.stage(expiringAt: expiry, &deadlines), of: name, at: now.boot)
        }
        switch remaining {
        case .none:
            standing = .critical
            reason =
                reason
                ?? Reason(
                    trouble: Trouble(wanted == nil ? .noSecret : .notPublished, at: .client(name)), client: name,
                    since: now.wall, nextAttempt: nil)
        case .until(let expiry):
            let isExpired = deadlines.reached(expiry)
            if isExpired || deadlines.reached(expiry - entry.criticalRemainder) {
                standing = .critical
                let trouble = Trouble(
                    isExpired ? .secretExpired : .secretExpiring, at: .client(name), detail: expiry.description)
                reason = reason ?? Reason(trouble: trouble, client: name, since: now.wall, nextAttempt: nil)
            }
        case .unknown:
            break
        }
        if standing == .degraded, reason == nil {
            let trouble = Trouble(isPublished(name) ? .notDelivered : .notPublished, at: .client(name))
            reason = Reason(trouble: trouble, client: name, since: now.wall, nextAttempt: nil)
        }
        // The same trouble goes on: it began when it was first seen, not at this look.
        if let old = old?.reason, old.trouble == reason?.trouble, reason?.since == now.wall {
            reason?.since = old.since
        }
        let view = ClientView(
            name: name, clientID: entry.clientID, team: client.key.team, keyID: client.key.keyID, standing: standing,
            reason: standing == .ok ? nil : reason, current: state.current,
            deliveredExpiresAt: deliveredExpiry(client, holding: held, wanted),
            renewAt: state.current.map { renewal(of: $0, entry) }, renewals: state.renewals,
            counts: state.counts, publishedAt: outputs.compactMap(\.writtenAt).max(),
            lastSuccessAt: lastSuccessAt,
            consecutiveFailures: troubles.isEmpty ? 0 : consecutiveFailures(name),
            lastError: troubles.first?.trouble.message,
            delivered: isDone, outputs: outputs, actions: actions)
        tell(view)
        views[name] = view
        if let old { standings[old.standing, default: 0] -= 1 }
        standings[view.standing, default: 0] += 1
    }

    /// What a client's outputs were seen to hold, by itself.
    private func appraise(_ client: Subject, _ deadlines: inout Deadlines) -> Appraisal {
        client.entry.appraise(
            client.name, key: client.key, world.keys[client.entry.key]?.print.map(SignatureEvidence.key) ?? .remembered,
            isUnderWay: true, found: { path in world.files[path]?.seen.map { .success($0) } }, &deadlines)
    }

    private func renewal(of issued: Issued, _ entry: ClientEntry) -> WallTime {
        isRestrained
            ? issued.expiresAt - entry.criticalRemainder : entry.renewal(of: issued, jitter: hostJitter)
    }

    /// Whether a standing is worth a line. A renewal that is merely under way is none, and until a client was tried,
    /// that it is not served yet is no news.
    private func isNews(_ view: ClientView) -> Bool {
        let isUnderWay =
            [.notPublished, .notDelivered].contains(view.reason?.trouble.code) && view.standing == .degraded
        return !untried.contains(view.name) && !isUnderWay && told[view.name, default: .ok] != view.standing
    }

    mutating func tell(_ view: ClientView) {
        guard isNews(view) else { return }
        told[view.name] = view.standing
        changes.append(.standing(view.name, view.standing, view.reason))
    }

    /// The life of the weakest secret that an output or an application holds.
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
            guard let seen = world.files[place.path]?.seen else {
                // Not looked at yet is not known; looked for in vain is a file that no application can read either.
                if world.attempts[.file(place.path)] != nil { return .none }
                isUnknown = true
                continue
            }
            for slot in place.slots {
                // What is missing while the client is tried is on its way.
                if isUnderWay, seen.slots[slot] == nil {
                    isUnknown = true
                    continue
                }
                guard let issued = seen.slots[slot]?.issued, client.entry.serves(issued, isVerifiable: print != nil)
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

    /// When what applications hold expires: what they were last told of, or what lies in the outputs where nobody is
    /// told. Nil when one of them holds nothing.
    private func deliveredExpiry(_ client: Subject, holding held: [WallTime?], _ wanted: Issued?) -> WallTime? {
        var expiries = held
        if expiries.isEmpty {
            for place in client.places {
                let seen = world.files[place.path]?.seen?.slots ?? [:]
                for slot in place.slots { expiries.append(seen[slot]?.issued?.expiresAt) }
            }
        }
        if expiries.isEmpty { expiries = [wanted?.expiresAt] }
        return expiries.contains(nil) ? nil : expiries.compactMap { $0 }.min()
    }

    private func consecutiveFailures(_ name: ClientName) -> Int {
        resources(of: name).compactMap { attempts(at: $0, for: name)?.failures }.max() ?? 0
    }

    /// What stands in a client's way, on the way's order: the first one explains the others.
    private func reasons(for client: Subject, _ deadlines: inout Deadlines) -> [Reason] {
        let name = client.name
        let now = deadlines.now
        var reasons: [Reason] = []
        if let trouble = clock.trouble, let since = clock.since {
            reasons.append(Reason(trouble: trouble, client: nil, since: since, nextAttempt: nil))
        }
        let isAnyTroubled = !world.attempts.isEmpty || !overdue.isEmpty
        for resource in isAnyTroubled ? resources(of: name) : [] {
            if let job = world.running[resource], let trouble = hang(of: resource) {
                let began = now.wall - now.boot.seconds(since: job.startedAt)
                reasons.append(Reason(trouble: trouble, client: name, since: began, nextAttempt: nil))
            } else if let attempts = attempts(at: resource, for: name) {
                reasons.append(
                    Reason(
                        trouble: attempts.trouble, client: name, since: attempts.since,
                        nextAttempt: nextAttempt(attempts, at: resource, now)))
            }
        }
        for path in client.files where isVanished(path) {
            reasons.append(
                Reason(
                    trouble: Trouble(.environmentFileDeleted, at: .path(path)), client: name,
                    since: now.wall, nextAttempt: nil))
        }
        for path in client.files {
            guard let damage = world.files[path]?.damage, damage.isContested(&deadlines) else { continue }
            reasons.append(
                Reason(
                    trouble: Trouble(.contested, at: .path(path)), client: name, since: now.wall,
                    nextAttempt: damage.nextRepair.flatMap { Self.upcoming($0, now) }))
        }
        // It keeps nothing from being done, and so hides nothing that does.
        if let change = change(of: client.entry.key, &deadlines) {
            reasons.append(
                Reason(
                    trouble: change.trouble(of: client.entry.key), client: name, since: change.at, nextAttempt: nil))
        }
        return reasons
    }

    /// When what has failed is tried again; nil while that is being done.
    private func nextAttempt(_ attempts: Attempts, at resource: Resource, _ now: Now) -> WallTime? {
        world.running[resource] == nil ? Self.upcoming(attempts.notBefore, now) : nil
    }

    /// A moment by the wall clock; nil when it has come: whatever waits for something else then is tried as soon as that
    /// is there, and a time that lies in the past says nothing to anybody.
    private static func upcoming(_ moment: BootTime, _ now: Now) -> WallTime? {
        moment > now.boot ? now.wall + Seconds((moment.milliseconds - now.boot.milliseconds + 999) / 1000) : nil
    }

    private func outputView(
        _ output: Output, holding wanted: Issued?, _ deadlines: inout Deadlines
    ) -> OutputView {
        let path = output.path
        let file = world.files[path] ?? FileState()
        let isContested = file.damage.isContested(&deadlines)
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
            } else if let wanted, file.holds(wanted, in: Slot(output.format)) {
                // Also while it is looked at again: that somebody has touched a file does not make it bad.
                .ok
            } else {
                .pending
            }
        let trouble =
            hang ?? attempts?.trouble
            ?? (isVanished ? Trouble(.environmentFileDeleted, at: .path(path)) : nil)
            ?? (isContested ? Trouble(.contested, at: .path(path)) : nil)
        return OutputView(
            path: path, format: output.format, state: state, writtenAt: file.writtenAt,
            error: trouble?.message, repairs: file.damage.repairCount)
    }

    private func actionView(_ id: ActionID, of client: ClientName) -> ActionView {
        // Also what has told all that there is to tell, and could not the next time.
        let failed = attempts(at: .action(id), for: client) ?? world.attempts[.probe(id)]
        let isPending = wantedSecret(client) == nil || owes(client, id)
        return ActionView(
            action: id, state: failed != nil ? .failed : isPending ? .pending : .ok,
            ranAt: world.clients[client]?.ranAt[id], error: failed?.trouble.message)
    }

    /// What the daemon shows of itself now.
    package func snapshot(at now: Now) -> Snapshot {
        let clients = names.compactMap { views[$0] }
        var standing = clients.map(\.standing).max() ?? .ok
        var reason = clients.first { $0.standing == standing && $0.reason?.trouble.code != .keyChanged }?.reason
        let change = clients.first { $0.standing == standing }?.reason
        if let trouble = refusalTrouble ?? restraint {
            standing = max(standing, .degraded)
            if standing == .degraded || reason == nil {
                reason = Reason(trouble: trouble, client: nil, since: refusedAt ?? startedAt, nextAttempt: nil)
            }
        }
        if let trouble = clock.trouble, let since = clock.since {
            standing = max(standing, .degraded)
            reason = reason ?? Reason(trouble: trouble, client: nil, since: since, nextAttempt: nil)
        }
        if let lack = hampered.first {
            standing = max(standing, .degraded)
            let next = lack.nextAttempt.flatMap { Self.upcoming($0, now) }
            reason = reason ?? Reason(trouble: lack.trouble, client: nil, since: lack.since, nextAttempt: next)
        }
        if let (resource, attempts) = noticeTrouble {
            let next = nextAttempt(attempts, at: resource, now)
            standing = max(standing, .degraded)
            reason =
                reason ?? Reason(trouble: attempts.trouble, client: nil, since: attempts.since, nextAttempt: next)
        }
        return Snapshot(
            startedAt: startedAt, ready: isReady && !isStopping, standing: standing,
            reason: standing == .ok ? nil : reason ?? change, clockTrusted: clock.trouble == nil,
            configuration: ConfigurationView(
                path: configurationPath, loadedAt: configurationLoadedAt,
                error: refusal.map { $0.joined(separator: "\n") } ?? restraint?.message),
            clients: clients)
    }

    private var refusalTrouble: Trouble? {
        refusal.map { Trouble(.configurationRefused, at: .named(configurationPath), detail: $0.first) }
    }

    /// Why no action runs and nothing is minted but what becomes critical; nil when that is not so.
    var restraint: Trouble? {
        guard isRestrained else { return nil }
        return refusalTrouble ?? Trouble(.configurationNotAdopted, at: .named(configurationPath))
    }
}
