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
        if let (resource, attempts) = stateChangeFailure {
            health = max(health, .degraded)
            reason = reason ?? self.reason(attempts, at: resource, for: nil, now)
        }
        var snapshot = Snapshot(
            startedAt: startedAt, ready: isReady && !jobs.isStopping, health: health,
            reason: health == .ok ? nil : reason ?? reasons.first, clockTrusted: clock.failure == nil,
            configuration: ConfigurationView(
                path: configurationWatch.path, loadedAt: configurationWatch.loadedAt,
                error: configurationWatch.refusal.map { $0.lines.joined(separator: "\n") }),
            clients: clients)
        snapshot.store = storePolling.view
        snapshot.fleet = fleet.counts
        snapshot.rollouts = rolloutViews
        return snapshot
    }

    /// The worst state of a client, and of the daemon itself. A failure of `on_state_change` is left out: an action that fails
    /// sometimes would cause its own runs.
    func healthWithDaemon(at now: Now) -> HealthState {
        daemonReason(at: now) == nil ? worstHealth : max(worstHealth, .degraded)
    }

    /// Why the daemon is degraded, however well its clients are served; nil while it is not. A failure of `on_state_change` is
    /// left out here too.
    func daemonReason(at now: Now) -> Reason? {
        if let failure = configurationWatch.refusalFailure ?? configurationWatch.restraint {
            let since = configurationWatch.refusal?.since ?? startedAt
            return Reason(failure: failure, since: since)
        }
        return clock.reason
            ?? faults.all.first.map { fault in
                let next = fault.nextAttempt.flatMap { upcoming($0, now) }
                return Reason(failure: fault.failure, since: fault.since, nextAttempt: next)
            }
    }
}
