package import AppleClientSecret

/// How near to expiry the weakest secret is that an output or an application of a client holds.
package enum Stage: String, Hashable, Sendable, Comparable, CaseIterable {
    case fresh
    /// Nearer to its expiry than `renew_before`: it should have been replaced by now.
    case warning
    /// Nearer than a third of `renew_before`, where the client's state becomes critical.
    case critical
    case expired

    package static func < (left: Stage, right: Stage) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .fresh: 0
        case .warning: 1
        case .critical: 2
        case .expired: 3
        }
    }
}

/// The states that `on_state_change` last reported: kept over a restart, so that no report is repeated or lost.
package struct ReportedStates: Hashable, Sendable {
    package var health: HealthState = .ok
    /// Clients whose secret is not ``Stage/fresh``.
    package var stages: [ClientName: Stage] = [:]
    /// Actions that have not yet succeeded since the last change.
    package var owed: Set<ActionID> = []
    /// When each action was last started: its last four starts at most.
    package var starts: [ActionID: [WallTime]] = [:]

    package init() {}
}
