import AppleClientSecret
import Failures
import Model
import Rotation

/// The promises, checked after every step.
extension Simulator {
    func check(_ step: Step) throws {
        try outside.check()
        if counts(.state), let broken = rotation.checkInvariants().first { throw Violation(.state, broken) }
        if let problem = problemOfWake { throw Violation(.wake, problem) }
        try checkTogether(step)
        let snapshot = rotation.snapshot(at: now)
        // More than half of a life's time, so only every fourth step: a mistake would soon show again.
        let everything = try steps % 4 == 0 && counts(.touched, .wake) ? checkTouched(step, snapshot) : snapshot
        watch.see(
            outside, isAlive: isAlive, isClockPossible: isClockPossible, at: boot)
        try verdicts.see(self)
        try checkVerdicts()
        try checkApplications(snapshot)
        stateChangeActions.see(snapshot, at: boot)
        try stateChangeActions.check(outside, at: boot)
        let shown = shown(everything)
        try checkHealth(shown)
        try checkReadiness(shown)
    }

    /// Whether it matters that one of these promises is broken. In a life with a planted mistake only those matter that the
    /// mistake breaks, and the most expensive checks are left out where they are of others.
    private func counts(_ invariants: Invariant...) -> Bool {
        sabotage.map { !$0.breaks.isDisjoint(with: invariants) } ?? true
    }

    /// Every client was tried: nothing that fails or hangs keeps a daemon from being ready for long.
    private func checkReadiness(_ snapshot: Snapshot) throws {
        let isLate = outside.configuration.clients.keys.allSatisfy { watch.quiet($0, at: boot) > 120_000 }
        if isLate, !snapshot.ready { throw Violation(.ready, "the daemon is still not ready") }
    }

    /// The plan over touched objects has missed nothing, and nothing could start before the next wake.
    private func checkTouched(_ step: Step, _ snapshot: Snapshot) throws -> Snapshot {
        var everything = rotation
        everything.touchEverything()
        let again = everything.plan(at: now)
        if let job = again.start.first { throw Violation(.touched, "a plan over everything starts \(job.work)") }
        let full = everything.snapshot(at: now)
        for (old, new) in zip(snapshot.clients, full.clients) where old.health != new.health {
            throw Violation(.touched, "\(new.name) is \(new.health) in a plan over everything")
        }
        if again.wake != step.wake {
            throw Violation(.touched, "a plan over everything wakes at \(again.wake), not \(step.wake)")
        }
        // Expensive, so only every eighth step: a mistake would soon show again.
        guard steps % 8 == 0 else { return full }
        var later = everything
        let eve = eveOfWake
        guard eve.boot > now.boot else { return full }
        later.touchEverything()
        if let job = later.plan(at: eve).start.first {
            throw Violation(.wake, "\(job.work) could start before the next wake, \(wake)")
        }
        for (old, new) in zip(full.clients, later.snapshot(at: eve).clients) where old.health != new.health {
            throw Violation(
                .wake,
                "\(new.name) is \(new.health) before the next wake, \(wake), after \(now.boot): "
                    + "\(old.reason?.failure.message ?? "no reason") \(old.outputs.map(\.state)), "
                    + "\(new.reason?.failure.message ?? "no reason") \(new.outputs.map(\.state))")
        }
        return full
    }

    /// The last moment before the next wake; a year from now when there is none.
    private var eveOfWake: Now {
        let offset = now.wall.secondsSinceEpoch * 1000 - boot / 1000 * 1000
        let byWall = wake.wall.map { $0.secondsSinceEpoch * 1000 - offset }
        let next = [wake.boot?.milliseconds, byWall].compactMap { $0 }.min() ?? boot + 365 * 86_400_000
        return Now(
            wall: WallTime(secondsSinceEpoch: (next - 1) / 1000 + offset / 1000),
            boot: BootTime(milliseconds: next - 1), kernelSynced: isSynced)
    }

    /// A client for which everything has worked long enough holds a valid secret that is not overdue, the same
    /// everywhere. So none holds an expired one that could have been replaced within the renewal window.
    func checkApplications(_ snapshot: Snapshot? = nil) throws {
        guard isAlive else { return }
        for (name, entry) in outside.clients {
            guard watch.isOwed(name, entry, isSynced: isSynced, at: boot) else { continue }
            var all: Set<Fingerprint> = []
            for output in entry.outputs {
                guard let issued = outside.secret(in: output), isUsable(issued, entry) else {
                    throw Violation(.applications, "\(output.path) holds no usable secret of \(name)")
                }
                let renewal = entry.due(of: issued, jitter: renewalJitter)
                let bound = watch.bound(entry, isSynced: isSynced, at: boot) / 1000
                if now.wall > renewal + Seconds(bound) {
                    throw Violation(
                        .applications, "\(output.path) holds a secret of \(name) that was due at \(renewal)")
                }
                all.insert(issued.fingerprint)
            }
            for output in entry.targets
            where !outside.api.holdsUnknown(output) {
                guard let issued = outside.api.secret(at: output), isUsable(issued, entry) else {
                    throw Violation(.applications, "\(output.target) holds no usable secret of \(name)")
                }
                all.insert(issued.fingerprint)
            }
            for action in entry.onChange {
                guard let issued = outside.held[.init(client: name, action: action.id)] else {
                    throw Violation(.applications, "\(action.id) was never run for \(name)")
                }
                if issued.expiresAt <= now.wall {
                    throw Violation(
                        .applications, "\(name)'s application holds a secret that expired at \(issued.expiresAt)")
                }
                all.insert(issued.fingerprint)
            }
            guard watch.isDone(name, at: boot) else { continue }
            guard all.count == 1 else {
                throw Violation(.applications, "the outputs and applications of \(name) hold different secrets")
            }
            try checkRecord(name, entry)
            try checkFetched(name, entry)
            guard watch.keepsLong(at: boot), !watch.wasContested(entry, at: boot),
                !watch.targets.wasContested(entry, at: boot),
                let view = (snapshot ?? rotation.snapshot(at: now)).clients.first(where: { $0.name == name })
            else { continue }
            // A key id that stands for another key is reported for a day.
            if shown(view).health != .ok, view.reason?.failure.code != .keyChanged {
                throw Violation(.health, "\(name) is \(view.health): \(view.reason?.failure.message ?? "no reason")")
            }
        }
    }

    /// The state directory keeps the current secret, and for which secrets actions were run.
    private func checkRecord(_ name: ClientName, _ entry: ClientConfiguration) throws {
        guard watch.keepsLong(at: boot) else { return }
        guard let record = outside.records[name], record.current == entry.outputs.first.flatMap(outside.secret) else {
            throw Violation(.applications, "the secret of \(name) is not kept")
        }
        for action in entry.onChange {
            let known = watch.known[.init(client: name, action: action.id)]
            if known?.fingerprint != record.delivered[action.id]?.fingerprint {
                throw Violation(.applications, "it is not kept that \(action.id) was run for \(name)")
            }
        }
        for output in entry.targets where record.pushed[output] != record.current {
            throw Violation(.applications, "it is not kept that \(output.target) was pushed to")
        }
    }

    /// An application behind an API has read what is there now.
    private func checkFetched(_ name: ClientName, _ entry: ClientConfiguration) throws {
        // While a place is contested, no action runs again for the same secret.
        guard let output = entry.targets.last, !watch.targets.wasContested(entry, at: boot),
            !outside.api.holdsUnknown(output)
        else { return }
        for action in entry.onChange where !action.isRedeployment {
            let read = outside.fetched[.init(client: name, action: action.id)]
            guard read?.secret == outside.api.secret(at: output) else {
                throw Violation(.applications, "\(name)'s application has last read another secret at \(output.target)")
            }
        }
    }

    /// Whether some secret is so old that operators may have been notified of that alone.
    var hasAged: Bool {
        outside.configuration.clients.contains { name, entry in
            let readers = entry.onChange.map { Outside.Reader(client: name, action: $0.id) }
            // Also what the daemon knows to be delivered: a failed run may have delivered something newer.
            let held = readers.map { outside.held[$0] } + readers.map { watch.known[$0] }
            let known: [SecretInfo?] = watch.targets.known(entry)
            return (held + known + entry.outputs.map(outside.secret)).contains { issued in
                issued.map { $0.expiresAt - entry.renewBefore <= now.wall } ?? true
            }
        }
    }
}
