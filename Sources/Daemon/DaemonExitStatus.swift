import Config
import Failures
import Model

/// How a run of the daemon ended; the raw value is the exit code.
package enum DaemonExitStatus: Int32, Sendable {
    case done = 0
    /// With `--once`: something could not be brought up to date. Else: the system refused something that the daemon needs.
    case failed = 1
    /// Another daemon holds the state directory.
    case locked = 75
    /// The user may not read the configuration.
    case notPermitted = 77
    /// The configuration's text is refused.
    case configuration = 78
}

extension DaemonExitStatus {
    /// Of a start that cannot use the configuration. A service manager tries again after a failed read.
    init(_ error: ConfigurationError) {
        self =
            switch error.unread {
            case .notPermitted: .notPermitted
            case .systemFailed: .failed
            case nil: .configuration
            }
    }

    /// The result of `run --once`.
    ///
    /// - Parameter unwritten: why the metrics could not be written; nil if they were, or are not wanted.
    init(ofOnce end: Snapshot, unwritten: Failure?) {
        let isServed = end.clients.allSatisfy { $0.delivered || $0.isUndeployed }
        let failures = ([end.reason] + end.clients.map(\.reason)).compactMap { $0?.failure.code }
        // A replaced key and a place that is switched off are reported, but all possible work for the clients is done.
        let isDone = isServed && failures.allSatisfy { $0 == .keyChanged || $0 == .pushSwitchedOff }
        self = isDone && unwritten == nil ? .done : .failed
    }
}
