import Config
import Linux
import Model
import SystemPackage

/// What the daemon logs in addition to the core's events (``LogEvent``): of its start and end, its own files and sockets, the
/// service manager and the log itself. A closed list too, so that no call can log a free string; each event has its row in
/// LogMessages.swift.
enum DaemonEvent: Hashable, Sendable {
    /// The daemon does not start; one event for each error of the configuration.
    case startRefused(StartProblem)
    case configurationWarning(Diagnostic)
    /// Keys are kept in memory that is swapped and dumped like any other.
    case noSecureMemory
    /// The state directory was removed, emptied or replaced while it was in use.
    case stateLost(AbsolutePath)
    /// The configuration now names another state directory than this one, which stays in use.
    case stateDirectoryKept(AbsolutePath)
    /// systemd passed a socket of a name that means nothing here.
    case socketIgnored(name: String)
    /// A start with a configuration that is refused will not find the present one.
    case configurationNotKept(Failure)
    /// A record of the state directory could not be read and was set aside; without a client it is that of
    /// `on_state_change`.
    case recordSetAside(ClientName?, Failure)
    /// The credential socket could not accept a connection.
    case acceptFailed(Failure)
    /// The credential socket is no longer served.
    case credentialsLost(Failure)
    /// A stop did not wait any longer for so many jobs.
    case stoppedEarly(jobs: Int)
    /// The last write of `metrics_file` failed.
    case metricsNotWritten(Failure)
    /// `run --once` could not bring a client up to date.
    case leftUndone(ClientName, HealthState, Failure?)
    case managerUnreachable(SystemError)
    /// The service manager takes no messages from the socket of this address.
    case managerSilent(address: String)
    /// It takes them again.
    case managerReached
    /// Units run with less protection than they ship with; the words say which and how.
    case sandboxWeakened(String)
    /// A hook printed a line, already free of secrets.
    case hookPrinted(ActionID, String)
    /// So many events were dropped because the log was not read in time.
    case linesLost(Int)
}

/// Why the daemon does not start.
enum StartProblem: Hashable, Sendable {
    case system(SystemError)
    /// No names can be made for temporary files.
    case temporaryNames(FileError)
    case configuration(Diagnostic)
    /// systemd passed a socket for metrics that other machines reach.
    case reachableMetrics(socket: String)
    /// Another daemon holds the state directory.
    case stateLocked(Failure)

    /// For the log, the service manager and the clients of the sockets.
    var words: String {
        switch self {
        case .system(let error): "cannot run: \(error)"
        case .temporaryNames(let error): "cannot run: \(error)"
        case .configuration(let diagnostic): diagnostic.description
        // The start fails instead of ignoring the socket, because the author of that unit relies on a port that other
        // machines can reach.
        case .reachableMetrics(let socket):
            "the socket \(socket) from systemd is on an address that other machines reach; "
                + "write a loopback one into its unit, such as ListenStream=127.0.0.1:9467"
        case .stateLocked(let failure): failure.sentence
        }
    }

    /// The system's error number, where a call failed.
    var errno: Int32? {
        switch self {
        case .system(let error): error.errno.rawValue
        case .temporaryNames(let error): error.cause
        case .stateLocked(let failure): failure.cause
        case .configuration, .reachableMetrics: nil
        }
    }
}
