import AppleClientSecret
import Model

/// The state directory as a whole: data that may have been lost there, and data that is to be removed.
struct StateUpkeep: Sendable {
    /// Writes and reads of the state directory by jobs before this one may have been lost since.
    private(set) var countsFrom = JobID.beforeAll
    /// Whether an earlier configuration may have left records of removed clients.
    fileprivate var isTidyingDue = false
    /// Outputs that reloads removed, until they were searched for secrets.
    fileprivate var removedPlaces: Set<OutputPlace> = []
    /// Places behind APIs that reloads removed, until they were reported.
    fileprivate var removedPushes: [OrphanedOutput] = []

    /// - Parameter orphans: those behind APIs.
    mutating func adopt(_ index: ConfigurationIndex, _ old: Configuration, _ orphans: [OrphanedOutput]) {
        isTidyingDue = true
        removedPushes += orphans
        removedPlaces.formUnion(old.places)
        if !removedPlaces.isEmpty { removedPlaces.subtract(index.places) }
    }

    /// The state directory's content may be gone: everything must be written to it again.
    mutating func lose(next: JobID) { countsFrom = next }
}

extension Rotation {
    mutating func tidyingFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .tidyRecords(_, _, let removed, _) = job.work else { return }
        switch result {
        case .success(.tidied(let orphans)):
            let live = (orphans + stateUpkeep.removedPushes).filter { orphan in
                // It may be an output again after a reload.
                !index.isOutput(orphan.place) && orphan.expiresAt.map { now.wall < $0 } != false
            }
            events += live.map(LogEvent.orphaned)
            waiting.report(orphaned: live)
            stateUpkeep.removedPlaces.subtract(removed)
            stateUpkeep.removedPushes = []
        case .failure: stateUpkeep.isTidyingDue = true
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// Removes the records of clients that are no longer configured, half a year after the last of their secrets expired. An
    /// operator who rolls the configuration back sooner finds the same secrets; their actions run again. The same job searches
    /// the outputs that a reload removed for secrets.
    mutating func planTidying(_ timer: inout WakeTimer) {
        // A clock that is years ahead must not make records look old enough to remove. A single run may be of one configuration
        // of several.
        guard stateUpkeep.isTidyingDue, isReady, !isOnce, clock.failure == nil else { return }
        let now = clock.tellsAge(at: timer.now) ? timer.now.wall : builtAt
        let work = Work.tidyRecords(
            keeping: Set(index.all.map(\.name)), expiredBefore: now - Lifetime.appleLimit,
            removed: stateUpkeep.removedPlaces,
            outputs: index.places)
        if jobs.start(work, on: .state, &timer) { stateUpkeep.isTidyingDue = false }
    }
}
