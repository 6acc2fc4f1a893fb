/// The promises about a daemon, each checked at every step.
package enum Invariant: String, Sendable, CaseIterable {
    /// Outputs hold only whole secrets of their clients, and what others keep in a file stays.
    case outputs
    /// No application holds an expired or overdue secret although it could have been given another.
    case applications
    /// The next wake lies in the future, and is not later than anything that is to be done.
    case wake
    /// Mints, writes, attempts and action runs are as few as possible, and in an emergency as many as required.
    case pace
    /// The state directory holds what the daemon knows of its secrets, whatever happened to it.
    case memory
    /// Health agrees with an observer who sees everything.
    case health
    /// A plan over everything starts nothing that the plan over touched objects missed.
    case touched
    /// The bytes of a secret are needed only where the daemon has them.
    case bytes
    /// Each request is answered once.
    case answers
    /// A daemon is ready once every client was tried.
    case ready
    /// Operators are notified of what lasts, and not too often.
    case stateChangeActions
    /// A new secret replaces another one once Apple has accepted it; an untried one in time, a refused one at the end.
    case verdicts
    /// No secret that is valid is replaced because of a clock that nobody vouches for.
    case clock
    /// No part of the core contradicts itself.
    case state
}

typealias Violation = BrokenPromise<Invariant>
