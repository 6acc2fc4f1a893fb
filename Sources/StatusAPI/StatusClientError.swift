package import Failures
package import SystemPackage

/// Why a command got no answer from the daemon, or not the one it asked for; the description is one line for operators.
package enum StatusClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No socket at the path, or no process listens on it.
    case notReachable(socket: String, cause: Errno)
    /// The same, because the daemon has nothing to run with.
    case notConfigured
    /// This user may not open the socket.
    case notPermitted(socket: String, cause: Errno)
    case timedOut(socket: String, seconds: Int64)
    /// The daemon, or another program that listens there, has closed the connection before it answered.
    case ended(socket: String)
    /// A user listens there that is not root, the caller or the daemon's user.
    case foreignListener(socket: String, user: UInt32)
    /// Another program listens there, or the daemon closed the connection in the middle of its answer.
    case notHTTP(socket: String, what: String)
    /// The answer's JSON does not have the form that this program knows.
    case malformed(what: String)
    /// The daemon answered that it did not carry out the request.
    case answered(Problem)

    /// The problem and, after a semicolon, the remedy.
    package var description: String {
        remedy.map { "\(message); \($0)" } ?? message
    }

    private var message: String {
        switch self {
        case .notReachable(let socket, let cause): "no daemon can be reached at \(socket): \(cause)"
        case .notConfigured: "the daemon is not running, because there is no configuration"
        case .notPermitted(let socket, let cause): "\(socket) may not be opened: \(cause)"
        case .timedOut(let socket, let seconds): "the daemon at \(socket) has not answered within \(seconds) s"
        case .ended(let socket): "the daemon at \(socket) has ended, or was ended, before it answered"
        case .foreignListener(let socket, let user):
            "user \(user) listens at \(socket), and is neither root, the daemon's user nor you, so nothing was sent"
        case .notHTTP(let socket, let what): "the program at \(socket) does not answer like clientsecretd: \(what)"
        case .malformed(let what):
            "the daemon's answer cannot be read, perhaps because the daemon has another version: \(what)"
        case .answered(let problem): problem.detail
        }
    }

    /// The remedy; nil for an answer, which has its own.
    package var remedy: Remedy? {
        switch self {
        case .notReachable:
            // Which configuration another socket's daemon reads is not known here.
            CommandContext.current.remedyForSocket
                ?? .say("is it running?", see: ShellCommand.daemonUnit.flatMap(ShellCommand.status(of:)))
        case .notConfigured: .say("create one", run: .initialize)
        // No command: the user that put the socket there chose its group.
        case .notPermitted: .say("use sudo, or join the group that owns the socket")
        case .timedOut, .ended: .say("look at its log", see: .daemonsJournal)
        case .foreignListener:
            .say("run this as the user that runs the daemon, or name the daemon's socket with --socket")
        case .notHTTP: .say("name the daemon's socket with --socket")
        case .malformed: .say("restart it after an upgrade", run: .restart())
        case .answered: nil
        }
    }
}
