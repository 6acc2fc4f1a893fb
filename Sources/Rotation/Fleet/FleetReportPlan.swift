import Model

/// When the machines' reports are read and removed, and the result.
extension Rotation {
    // MARK: State

    mutating func fleetFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard jobs.isCurrent(job) else { return }
        let clockTellsAge = clock.tellsAge(at: now)
        switch (job.work, result) {
        case (_, .success(.reportsRead(let found))):
            fleet.read(found, clockTellsAge: clockTellsAge, by: job.id, at: now)
        case (.forgetReport(let machine, _), .success(.reportForgotten)):
            fleet.forget(machine, clockTellsAge: clockTellsAge, at: now)
        case (.readReports, .failure(let failure)): fleet.failed(failure, at: now)
        // Reading continues.
        case (_, .failure(let failure)): fleet.failedToForget(failure)
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
        judgeReports(at: now)
        // Rollouts go on by the reports, and records keep the known machines.
        for client in index.all where client.isSharing { touch(client) }
    }

    /// The first job whose read answers a request that comes now. This is the read under way; else any while the last one is
    /// fresh; else the next.
    func readingOfFleet(at now: Now) -> JobID {
        if let job = jobs[.fleet], case .readReports = job.work, jobs.isCurrent(job) { return job.id }
        return fleet.reading.isFresh(at: now) ? .first : jobs.next
    }

    // MARK: Plan

    mutating func planFleet(_ timer: inout WakeTimer) {
        guard let store = configuration.store, fleet.isSigner, !isOnce, isReady else { return }
        if storePolling.isFailing { fleet.noteUnreadable(at: timer.now) }
        guard jobs.mayStart(.fleet, &timer) else { return }
        let isRequested = waiting.pending.contains { request in
            if case .fleet = request.request { !fleet.reading.wasRead(since: request.since) } else { false }
        }
        if !isRequested, storePolling.isFailing { return }
        let isDue = fleet.reading.isDue(
            &timer, renewalJitter, isRollingOut: clients.all.contains { $0.rollout?.isGoing == true })
        if isRequested || isDue {
            jobs.start(.readReports(of: fleet.identities), on: .fleet, &timer)
        } else if fleet.mayForget, clock.tellsAge(at: timer.now) {
            guard let (machine, revision) = fleet.takeForgotten(excluding: store.machine, at: timer.now) else {
                return
            }
            if jobs.start(.forgetReport(machine: machine, ifAt: revision), on: .fleet, &timer) {
                fleet.beginForgetting(machine, at: timer.now)
            }
        }
    }

    /// The answer to a request for the fleet; nil until the reports were read for it.
    func fleetAnswer(all: Bool, since job: JobID, at now: Now) -> Answer? {
        guard fleet.isSigner else { return .noFleet(nil) }
        if fleet.reading.wasRead(since: job) { return .fleet(fleet.view(all: all, rolloutViews)) }
        if let attempts = jobs.attempts[.fleet], attempts.job >= job { return .noFleet(attempts.failure) }
        return nil
    }
}
