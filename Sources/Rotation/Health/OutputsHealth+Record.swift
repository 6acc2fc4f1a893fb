import AppleClientSecret
internal import Failures
import Model

/// What a client's record in the state directory adds: which secret its applications were last notified of, and what was pushed.
extension OutputsHealth {
    /// Judges by the secret that applications may still hold.
    ///
    /// - Parameter record: as it is kept; it knows of every action that has run.
    func considering(
        _ record: Record, of entry: ClientConfiguration, clock: ClockTrust, _ deadlines: inout Deadlines
    ) -> OutputsHealth {
        let judged = withTargets(record, entry, clock, &deadlines)
        guard judged.health != .critical else { return judged }
        let actions = entry.onChange.filter { !$0.isRedeployment }.map(\.id)
        let held = actions.compactMap { record.delivered.inUse(by: $0, of: actions) }.firstToExpire
        let weakest = [judged.secret, held].compactMap { $0 }.firstToExpire
        func result(_ health: HealthState?, _ failure: Failure?) -> OutputsHealth {
            OutputsHealth(client: client, health: health, failure: failure?.concerning(client), secret: weakest)
        }
        if clock.failure == nil, judged.failure?.code != .clockPerhapsAhead, let held,
            let failure = entry.shortLife(of: held, client, &deadlines)
        {
            return result(.critical, failure)
        }
        let isNotified = actions.allSatisfy { action in
            !record.owed.contains(action)
                && judged.secret.map { record.delivered[action]?.isSame(as: $0) == true } != false
        }
        // A secret that is newer than the record was written by hand. A received one may wait for its turn or its rollout, of
        // which only the daemon knows.
        let isKnown = judged.secret.map { record.current?.isSame(as: $0) == true } == true
        if judged.health == .ok, isKnown, entry.source == nil, !isNotified {
            return result(.degraded, Failure(.notDelivered, at: .client(client)))
        }
        return result(judged.health, judged.failure)
    }

    /// The same with what was last put behind APIs.
    private func withTargets(
        _ record: Record, _ entry: ClientConfiguration, _ clock: ClockTrust, _ deadlines: inout Deadlines
    ) -> OutputsHealth {
        guard let current = record.current, !entry.targets.isEmpty, clock.failure == nil,
            health == .ok || failure?.code == .noOutputs
        else { return self }
        let pushed = entry.targets.compactMap { record.pushed[$0] }
        let weakest = pushed.firstToExpire
        func result(_ health: HealthState, _ failure: Failure?) -> OutputsHealth {
            OutputsHealth(client: client, health: health, failure: failure?.concerning(client), secret: weakest)
        }
        guard let weakest, pushed.count == entry.targets.count else {
            return result(.critical, Failure(.notPublished, at: .client(client)))
        }
        if let failure = entry.shortLife(of: weakest, client, &deadlines) { return result(.critical, failure) }
        guard pushed.allSatisfy({ $0.isSame(as: current) }) else {
            return result(.degraded, Failure(.notPublished, at: .client(client)))
        }
        let due = entry.renewal(of: weakest, jitter: 0)
        return deadlines.reached(due)
            ? result(.degraded, Failure(.renewalOverdue, at: .client(client), detail: due.description))
            : result(.ok, nil)
    }
}
