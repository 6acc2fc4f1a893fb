import AppleClientSecret
internal import Failures
import Model

extension Rotation {
    /// The reasons that keep a client from being served, in processing order: the first one explains the others.
    func reasons(for client: ConfiguredClient, _ timer: inout WakeTimer) -> [Reason] {
        let name = client.name
        let now = timer.now
        var reasons: [Reason] = []
        if let reason = clock.reason {
            reasons.append(reason)
        } else if spared(client, &timer) != nil {
            let since = clock.setTo ?? startedAt
            let failure = Failure(.clockPerhapsAhead, at: .clock, detail: since.description)
            reasons.append(Reason(failure: failure, since: since))
        }
        for resource in jobs.hasFailure ? resources(of: client) : [] {
            if let job = jobs[resource], let failure = overdueFailure(of: resource, for: client) {
                let began = now.wall - now.boot.seconds(since: job.startedAt)
                reasons.append(Reason(failure: failure, client: name, since: began))
            } else if let attempts = attempts(at: resource, for: client) {
                reasons.append(reason(attempts, at: resource, for: name, now))
            }
        }
        if let reason = sourceReason(of: client, &timer) { reasons.append(reason) }
        if let reason = storeReason(of: client, &timer) { reasons.append(reason) }
        if let reason = rolloutReason(of: client, &timer) { reasons.append(reason) }
        if let reason = certificateReason(of: client, &timer) { reasons.append(reason) }
        // After a start this is known before Apple is asked again.
        if jobs.attempts[.verification(name)] == nil,
            let refusal = clients[client].verification?.refusal ?? currentRefusal(client)
        {
            reasons.append(Reason(failure: refusal, client: name, since: now.wall))
        }
        reasons += outputProblems(of: client).map { Reason(failure: $0, client: name, since: now.wall) }
        return reasons + contests(of: client, whereGood: false, &timer)
    }

    /// Problems of a client that may still be served. They never hide a reason why a client is not.
    func warnings(of client: ConfiguredClient, _ timer: inout WakeTimer) -> [Reason] {
        let name = client.name
        var warnings = contests(of: client, whereGood: true, &timer)
        for output in client.targets {
            guard let failure = targets[output.target]?.disuse else { continue }
            warnings.append(Reason(failure: failure, client: name, since: timer.now.wall))
        }
        for key in client.keys {
            guard let change = keys[key.name]?.recentChange(&timer) else { continue }
            warnings.append(Reason(failure: change.failure(of: key.name), client: name, since: change.at))
        }
        return warnings
    }

    /// The contested places of a client.
    ///
    /// - Parameter isGood: true: places that hold its secret now; false: those that do not.
    private func contests(
        of client: ConfiguredClient, whereGood isGood: Bool, _ timer: inout WakeTimer
    ) -> [Reason] {
        let now = timer.now
        let lacking = lackingPlaces(of: client)
        return drifts(of: client).filter { place, drift in
            drift.isContested(&timer) && lacking.contains(place) != isGood
        }.map { place, drift in
            Reason(
                failure: Failure(.contested, at: place), client: client.name, since: now.wall,
                nextAttempt: drift.nextRepair.flatMap { upcoming($0, now) })
        }
    }

    /// Changes by other programs to a client's files, then to its places behind APIs.
    func drifts(of client: ConfiguredClient) -> [(Failure.Place, DriftRepairs)] {
        client.files.compactMap { path in files[path].map { (.path(path), $0.drift) } }
            + client.targets.compactMap { output in targets[output.target].map { (.target(output.target), $0.drift) } }
    }

    /// The reason that failed work gives.
    func reason(_ attempts: FailedAttempts, at resource: Resource, for client: ClientName?, _ now: Now) -> Reason {
        Reason(
            failure: attempts.failure, client: client, since: attempts.since,
            nextAttempt: nextAttempt(attempts, at: resource, now))
    }

    /// When the failed work is tried again; nil while it is running.
    func nextAttempt(_ attempts: FailedAttempts, at resource: Resource, _ now: Now) -> WallTime? {
        jobs[resource] == nil ? upcoming(attempts.notBefore, now) : nil
    }

    /// A moment as wall clock time; nil when it has passed. Work that then still waits for something else starts as soon as
    /// that is there. A time in the past would be useless.
    func upcoming(_ moment: BootTime, _ now: Now) -> WallTime? {
        moment > now.boot ? now.wall + Seconds(roundingUp: moment.milliseconds - now.boot.milliseconds) : nil
    }
}
