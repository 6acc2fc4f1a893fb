/// What is promised of a daemon, each checked at every step.
package enum Invariant: String, Sendable, CaseIterable {
    /// No output ever holds anything but a whole secret of its client's, and what others keep in a file stays.
    case outputs
    /// No application holds an expired secret, or one that is due, although it could have been given another.
    case applications
    /// The next wake lies in the future, and is not later than anything that is to be done.
    case wake
    /// Mints, writes, attempts and runs of actions are as few as they may be, and in an emergency as many as they must.
    case pace
    /// What a daemon knows of its secrets lies in the state directory, whatever befell that.
    case memory
    /// Health says what somebody who sees everything would say.
    case health
    /// A plan over everything starts nothing that the plan over what was touched did not.
    case touched
    /// The bytes of a secret are asked for only where somebody has them.
    case bytes
    /// Whoever asks is answered once.
    case answers
    /// A daemon is ready once every client was tried.
    case ready
    /// People are told of what lasts, and not too often.
    case stateChangeActions
}

/// A promise that was broken.
package struct Violation: Error, CustomStringConvertible {
    package let invariant: Invariant
    let text: String

    init(_ invariant: Invariant, _ text: String) {
        self.invariant = invariant
        self.text = text
    }

    package var description: String { "\(invariant): \(text)" }
}
