import Model

/// Finds problems that would keep actions from running, without running them. It looks after a start or a reload, as `check`
/// does, so that problems are reported before a renewal.
///
/// - After a start, probes wait until every client was tried, which matters more.
/// - A failed probe is repeated until it succeeds.
extension Rotation {
    mutating func probeFinished(
        _ job: Job, _ result: Result<Outcome, Failure>, before lastFailure: FailedAttempts?, at now: Now
    ) {
        guard case .probe(let action) = job.work, case .success(let outcome) = result else { return }
        guard case .feasible = outcome else { return unexpected(outcome, of: job) }
        if let lastFailure, jobs.attempts[.action(action.id)]?.failure == lastFailure.failure {
            jobs.retry(.action(action.id), at: now)
            touch(.action(action.id))
        }
    }

    var probesToPlan: [ActionID] {
        guard isReady else { return [] }
        let failed = jobs.attempts.keys.compactMap { if case .probe(let id) = $0 { id } else { nil } }
        return dueProbes.union(failed).sorted()
    }

    mutating func planProbe(_ id: ActionID, _ timer: inout WakeTimer) {
        guard let action = index.probes[id], dueProbes.contains(id) || jobs.attempts[.probe(id)] != nil else { return }
        if jobs.start(.probe(action), on: .probe(id), &timer) { dueProbes.remove(id) }
    }

    /// Whether probes of actions are pending or running, other than overdue ones.
    var isProbing: Bool {
        dueProbes.contains { !jobs.isOverdue(.probe($0)) }
            || jobs.all.contains { $0.resource.isProbe && jobs.isBusy($0.resource) }
    }
}
