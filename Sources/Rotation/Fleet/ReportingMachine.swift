import AppleClientSecret
import Model

/// A machine of the fleet, by its report and the times of the report's changes.
struct ReportingMachine: Hashable, Sendable {
    let observation: ReportObservation
    /// Its report, completed by its earlier reports of clients for which there is no room now.
    let report: MachineReport?
    /// When it was first seen at this revision.
    let seenAt: BootTime
    /// Whether it was seen at another one before, or appeared after the first read.
    let hasChanged: Bool

    /// When it last gave a sign of life: it was seen to report, or reported before that by its own clock.
    ///
    /// - Parameter isOldPerhaps: whether its report may be older than it was first seen.
    func lastSign(isOldPerhaps: Bool, at now: Now) -> WallTime {
        let seen = now.wall - now.boot.seconds(since: seenAt)
        guard isOldPerhaps, !hasChanged, let at = observation.report?.at else { return seen }
        // Never later than its first sight here: a later time was wrong, and stays wrong.
        return min(at, seen)
    }

    /// Whether it has not reported since a moment for long enough to be silent, with or without a rollout.
    static func isSilent(since lastSign: WallTime, at now: Now) -> Bool {
        now.wall - lastSign > MachineReport.silence
    }

    /// Whether it was silent long enough for its report to be removed.
    func isForgotten(at now: Now) -> Bool {
        now.boot >= seenAt + MachineReport.silence
            && now.wall - lastSign(isOldPerhaps: true, at: now) >= MachineReport.removedAfter
    }

    /// Whether it has a report without this client.
    func reportsOthers(than client: ClientIdentity) -> Bool {
        report?.lacks(client) == true
    }
}
