package import AppleClientSecret

/// The states that `on_state_change` last reported: kept over a restart, so that no report is repeated or lost.
package struct ReportedStates: Hashable, Sendable {
    package var health: HealthState = .ok
    /// Clients whose secret is not ``ExpiryStage/fresh``.
    package var stages: [ClientName: ExpiryStage] = [:]
    /// Actions that have not yet succeeded since the last change.
    package var owed: Set<ActionID> = []
    /// When each action was last started: its last four starts at most.
    package var starts: [ActionID: [WallTime]] = [:]

    package init() {}
}
