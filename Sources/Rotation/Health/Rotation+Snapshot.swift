import AppleClientSecret
internal import Failures
package import Model

extension Rotation {
    /// The daemon's state at `now`, as status, metrics, sd_notify and the journal show it.
    package func snapshot(at now: Now) -> Snapshot {
        let clients = clients.all.compactMap(\.health.view)
        let worst = worstHealth
        let reasons = clients.lazy.filter { $0.health == worst }.compactMap(\.reason)
        var reason = reasons.first { $0.failure.code != .keyChanged }
        var health = healthWithDaemon(at: now)
        // A refused configuration comes before the parts that it would change.
        if let own = daemonReason(at: now), reason == nil || health == .degraded && configurationWatch.isReason {
            reason = own
        }
        var problems = daemonReasons(at: now)
        if let (resource, attempts) = stateChangeFailure {
            health = max(health, .degraded)
            let failed = self.reason(attempts, at: resource, for: nil, now)
            problems.append(failed)
            reason = reason ?? failed
        }
        if let unkept = stateReason(at: now) { problems.append(unkept) }
        var snapshot = Snapshot(
            startedAt: startedAt, ready: isReady && !jobs.isStopping, health: health,
            reason: health == .ok ? nil : reason ?? reasons.first, clockTrusted: clock.failure == nil,
            configuration: ConfigurationView(
                path: configurationWatch.path, loadedAt: configurationWatch.loadedAt,
                error: configurationWatch.refusal.map { $0.lines.joined(separator: "\n") }),
            clients: clients)
        snapshot.problems = problems
        snapshot.store = storePolling.view
        snapshot.fleet = fleet.counts
        snapshot.rollouts = rolloutViews
        if isOnce {
            snapshot.awaitedRollouts = index.all.reduce(into: [:]) { rollouts, client in
                rollouts[client.name] = awaitedRollout(of: client)
            }
        }
        return snapshot
    }

    /// The worst state of a client, and of the daemon itself. A failure of `on_state_change` is left out: an action that fails
    /// sometimes would cause its own runs.
    func healthWithDaemon(at now: Now) -> HealthState {
        daemonReason(at: now) == nil ? worstHealth : max(worstHealth, .degraded)
    }

    /// Why the daemon is degraded, however well its clients are served; nil while it is not. A failure of `on_state_change` is
    /// left out here too.
    func daemonReason(at now: Now) -> Reason? { daemonReasons(at: now).first }

    /// All such reasons, the one first that explains others.
    private func daemonReasons(at now: Now) -> [Reason] {
        var reasons: [Reason] = []
        if let failure = configurationWatch.refusalFailure ?? configurationWatch.restraint {
            let since = configurationWatch.refusal?.since ?? startedAt
            reasons.append(Reason(failure: failure, since: since))
        }
        if let reason = clock.reason { reasons.append(reason) }
        return reasons
            + faults.all.map { fault in
                let next = fault.nextAttempt.flatMap { upcoming($0, now) }
                return Reason(failure: fault.failure, since: fault.since, nextAttempt: next)
            }
    }

    /// Why no record can be kept; nil while records can. A client with other failures does not show this one.
    private func stateReason(at now: Now) -> Reason? {
        guard jobs.hasFailure else { return nil }
        return index.all.lazy.map { Resource.record($0.name) }.compactMap { resource in
            jobs.attempts[resource].flatMap { attempts in
                attempts.failure.code == .stateUnusable ? reason(attempts, at: resource, for: nil, now) : nil
            }
        }.first
    }
}
