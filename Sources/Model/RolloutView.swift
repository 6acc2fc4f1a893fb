package import AppleClientSecret

/// The displayed progress of a rollout.
package struct RolloutView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// The store has not shown it yet, so that no machine is known to be admitted.
        case waiting
        case going
        case held
        /// All machines are admitted.
        case finished
    }

    /// How many of the machines that report are admitted, from 0 to 1.
    package var share: Double
    package var state: State
    /// Since when it has been in this state, as far as this machine has seen.
    package var since: WallTime
    /// How many machines have reported the client and report it no more. Their ranks are not known, so places are kept for
    /// them until they report, or have been silent for ``MachineReport/silence``.
    package var missing: Int

    /// When it is finished at the latest, if all known machines have delivered and no other one reports. By then every machine
    /// has had the time to report.
    package var end: WallTime { since + MachineReport.silence }

    /// The share in whole percent, rounded down: a hundred are all.
    package var percent: Int { Int((share * 100 + 1e-9).rounded(.down)) }

    package init(share: Double, state: State, since: WallTime, missing: Int = 0) {
        self.missing = missing
        self.share = share
        self.state = state
        self.since = since
    }
}

/// The rollout that a machine's actions wait for, as far as that machine knows it.
package struct AwaitedRollout: Hashable, Sendable {
    /// Whether it admits no more machines until a user decides.
    package let isHeld: Bool
    /// From when the actions run although the rollout does not admit the machine.
    package let deadline: WallTime

    package init(isHeld: Bool, deadline: WallTime) {
        self.isHeld = isHeld
        self.deadline = deadline
    }
}
