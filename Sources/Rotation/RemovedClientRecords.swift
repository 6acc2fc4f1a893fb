import AppleClientSecret
import Model

extension Rotation {
    mutating func tidyingFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .tidyRecords(_, _, let removed, _) = job.work else { return }
        switch result {
        case .success(.tidied(let orphans)):
            let live = orphans.filter { orphan in
                // It may be an output again after a reload.
                !index.places.contains(orphan.place) && orphan.expiresAt.map { now.wall < $0 } != false
            }
            events += live.map(LogEvent.orphaned)
            waiting.report(orphaned: live)
            stateUpkeep.tidied(removed)
        case .failure: stateUpkeep.tidyAgain()
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// Removes the records of clients that are no longer configured, half a year after the last of their secrets expired. An
    /// operator who rolls the configuration back sooner finds everything unchanged. The same job searches the outputs that a
    /// reload removed for secrets.
    mutating func planTidying(_ timer: inout WakeTimer) {
        // A clock that is years ahead must not make records look old enough to remove.
        guard stateUpkeep.isTidyingDue, isReady, clock.failure == nil else { return }
        let now = clock.tellsAge(at: timer.now) ? timer.now.wall : builtAt
        let work = Work.tidyRecords(
            keeping: Set(index.all.map(\.name)), expiredBefore: now - Lifetime.appleLimit,
            removed: stateUpkeep.removedPlaces,
            outputs: index.places)
        if start(work, on: .state, &timer) { stateUpkeep.beginTidying() }
    }
}
