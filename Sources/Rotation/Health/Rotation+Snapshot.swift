import AppleClientSecret
internal import Failures
package import Model

extension Rotation {
    /// The daemon's state at `now`, as status, metrics, sd_notify and the journal show it.
    package func snapshot(at now: Now) -> Snapshot {
        let clients = clients.all.compactMap(\.health.shared)
        var health = clients.lazy.map(\.view.health).max() ?? .ok
        var reason =
            clients.first { $0.view.health == health && $0.view.reason?.failure.code != .keyChanged }?.view.reason
        let change = clients.first { $0.view.health == health }?.view.reason
        if let failure = configurationWatch.refusalFailure ?? configurationWatch.restraint {
            health = max(health, .degraded)
            if health == .degraded || reason == nil {
                let since = configurationWatch.refusedAt ?? startedAt
                reason = Reason(failure: failure, client: nil, since: since, nextAttempt: nil)
            }
        }
        if let failure = clock.failure, let since = clock.since {
            health = max(health, .degraded)
            reason = reason ?? Reason(failure: failure, client: nil, since: since, nextAttempt: nil)
        }
        if let lack = faults.all.first {
            health = max(health, .degraded)
            let next = lack.nextAttempt.flatMap { upcoming($0, now) }
            reason = reason ?? Reason(failure: lack.failure, client: nil, since: lack.since, nextAttempt: next)
        }
        if let (resource, attempts) = stateChangeFailure {
            let next = nextAttempt(attempts, at: resource, now)
            health = max(health, .degraded)
            reason =
                reason ?? Reason(failure: attempts.failure, client: nil, since: attempts.since, nextAttempt: next)
        }
        var snapshot = Snapshot(
            startedAt: startedAt, ready: isReady && !jobs.isStopping, health: health,
            reason: health == .ok ? nil : reason ?? change, clockTrusted: clock.failure == nil,
            configuration: ConfigurationView(
                path: configurationWatch.path, loadedAt: configurationWatch.loadedAt,
                error: configurationWatch.refusal.map { $0.joined(separator: "\n") }
                    ?? configurationWatch.restraint?.message),
            clients: ClientViews(shared: clients))
        snapshot.store = storeReading.view
        snapshot.fleet = fleet.counts
        snapshot.rollouts = rolloutViews
        return snapshot
    }
}
