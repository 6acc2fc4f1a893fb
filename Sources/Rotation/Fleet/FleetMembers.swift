import AppleClientSecret
import Model

/// The machines that report a client.
struct FleetMembers {
    let all: [Member]
    /// Since when their reports have been read.
    let readableSince: BootTime
    /// Whether each running machine has had the time to report since.
    let haveHadTime: Bool

    /// One client as a machine reports it.
    struct Member: Hashable, Sendable {
        let machine: String
        let holding: MachineReport.Holding
        let lastSeen: WallTime
        /// Whether it is silent whatever is rolled out.
        let isSilent: Bool
        /// When its report was first seen with its current content.
        let seenAt: BootTime

        /// Whether it has the current secret, and all its actions ran for it.
        func hasDelivered(_ current: SecretName?) -> Bool {
            holding.delivered && current.map(holding.holds) == true
        }

        /// - Parameter lost: the machines that the client's rollout no longer waits for (``RolloutProgress/lost``).
        func state(_ current: SecretName?, _ lost: Set<String>?) -> FleetCounts.State {
            if isSilent { return .silent }
            if holding.failure != nil { return .failing }
            if lost?.contains(machine) == true { return .silent }
            return current.map(holding.holds) == true ? .current : .behind
        }
    }
}
