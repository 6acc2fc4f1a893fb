import Config

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
}
