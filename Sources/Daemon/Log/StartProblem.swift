import Config
import Failures
import Linux
import Model

/// Why the daemon does not start.
struct StartProblem: Sendable {
    /// For the log, the service manager and the clients of the sockets.
    let words: String
    /// The system's error number, where a call failed.
    var errno: Int32?
    var fields: [JournalField] = []

    static func system(_ error: SystemError) -> StartProblem {
        let remedy = ProcessLimit(reached: error.number, isStart: true)?.remedy(for: nil)
        return StartProblem(words: "cannot run: \(error)" + (remedy.map { "; \($0)" } ?? ""), errno: error.number)
    }

    static func configuration(_ diagnostic: Diagnostic) -> StartProblem {
        StartProblem(words: diagnostic.description, fields: diagnostic.fields)
    }

    /// systemd passed a socket for metrics that other machines reach. The start fails instead of ignoring the socket, because the
    /// author of that unit relies on a port that other machines can reach.
    static func reachableMetrics(socket: String) -> StartProblem {
        StartProblem(
            words: "the socket \(socket) from systemd is on an address that other machines reach; "
                + "write a loopback one into its unit, such as ListenStream=127.0.0.1:9467")
    }

    /// Another daemon holds the state directory.
    static func stateLocked(_ failure: Failure) -> StartProblem {
        StartProblem(words: failure.sentence, errno: failure.cause, fields: failure.fields)
    }
}
