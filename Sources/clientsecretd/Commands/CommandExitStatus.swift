import Config
import StatusAPI

/// The program's exit codes, those of sysexits.h if one fits. Scripts depend on them. `run` ends with those of `DaemonExitStatus`
/// (`Daemon/DaemonExitStatus.swift`), of which 75 is not here.
enum CommandExitStatus: Int32 {
    case done = 0
    /// Anything else; for `inspect`, a secret that is not good.
    case failed = 1
    /// `verify`: it is not known whether Apple accepts the secret.
    case notKnown = 3
    /// Usage, or a bad value of a flag.
    case usage = 64
    /// A file named by a flag cannot be read.
    case unreadable = 66
    /// The daemon is not reachable.
    case unreachable = 69
    case notPermitted = 77
    /// The configuration is not accepted.
    case configuration = 78

    /// The exit status of a command that cannot use the configuration.
    init(_ error: ConfigurationError) {
        self =
            switch error.unread {
            case .notPermitted: .notPermitted
            case .systemFailed: .failed
            case nil: .configuration
            }
    }

    /// The exit status of a command if the daemon has not answered, or has not carried out its request.
    init(_ error: StatusClientError) {
        self =
            switch error {
            case .notReachable, .notConfigured, .timedOut, .ended, .foreignListener, .notHTTP: .unreachable
            case .notPermitted: .notPermitted
            case .malformed: .failed
            case .answered(let problem):
                switch problem.status {
                case 403: .notPermitted
                case 408, 503: .unreachable
                default: .failed
                }
            }
    }
}
