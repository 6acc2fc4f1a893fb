import Config
import Linux
import Model

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
