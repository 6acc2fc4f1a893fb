import AppleClientSecret
import Model

/// The machines of the fleet, as their reports show them.
extension FleetReports {
    /// A machine, by its report and the times of the report's changes.
    struct Machine: Hashable, Sendable {
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

    /// One client as a machine reports it.
    struct Member: Hashable, Sendable {
        let machine: String
        let holding: MachineReport.Holding
        let lastSeen: WallTime
        /// Whether it is silent whatever is rolled out.
        let isSilent: Bool
        /// When its report was first seen with its current content.
        let seenAt: BootTime

        /// - Parameter lost: the machines that the client's rollout no longer waits for (``RolloutProgress/lost``).
        func state(_ current: SecretName?, _ lost: Set<String>?) -> FleetCounts.State {
            if isSilent { return .silent }
            if holding.failure != nil { return .failing }
            if lost?.contains(machine) == true { return .silent }
            return current.map(holding.holds) == true ? .current : .behind
        }
    }

    /// The machines that report a client.
    struct Members {
        let all: [Member]
        /// Since when their reports have been read.
        let readableSince: BootTime
        /// Whether each running machine has had the time to report since.
        let haveHadTime: Bool
    }
}
