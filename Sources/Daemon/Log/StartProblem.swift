import Config
import Linux
import Model
import SystemPackage

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
        case .system(let error): error.number
        case .temporaryNames(let error): error.cause
        case .stateLocked(let failure): failure.cause
        case .configuration, .reachableMetrics: nil
        }
    }
}
