import Linux
package import SystemPackage

/// Why a command got no answer from the daemon, or not the one it asked for; the description is one line for operators.
package enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No socket at the path, or no process listens on it.
    case notReachable(socket: String, cause: Errno)
    /// This user may not open the socket.
    case notPermitted(socket: String, cause: Errno)
    case timedOut(socket: String, seconds: Int64)
    /// Another program listens there, or the daemon closed the connection in the middle of its answer.
    case notHTTP(socket: String, what: String)
    /// The answer's JSON does not have the form that this program knows.
    case malformed(what: String)
    /// The daemon answered that it did not do what was asked.
    case answered(Problem)

    package var description: String {
        switch self {
        case .notReachable(let socket, let cause):
            "no daemon can be reached at \(socket): \(cause); is it running? (systemctl status clientsecretd)"
        case .notPermitted(let socket, let cause):
            "\(socket) may not be opened: \(cause); use sudo, or "
                + (Self.joining(socket) ?? "a user whom the socket's group lets in")
        case .timedOut(let socket, let seconds):
            "the daemon at \(socket) has not answered within \(seconds) s; see what it does: journalctl -u clientsecretd"
        case .notHTTP(let socket, let what):
            "what answers at \(socket) does not answer like clientsecretd: \(what); name the daemon's socket with --socket"
        case .malformed(let what):
            "the daemon's answer cannot be read, perhaps because it is of another version: \(what); "
                + "restart it after an upgrade: systemctl restart clientsecretd"
        case .answered(let problem):
            problem.detail
        }
    }

    /// How root adds this user to the socket's group; nil where that group may not open the socket, or is root's.
    private static func joining(_ socket: String) -> String? {
        guard let status = FileStatus.following(socket), status.mode & 0o060 == 0o060, status.group != 0,
            let group = try? Accounts.group(id: status.group),
            let user = try? Accounts.user(id: Identity.current().user)
        else { return nil }
        return "let root put this user into its group: usermod --append --groups \(group.name) \(user.name)"
    }

    /// The documented exit code: 69 for a daemon that is not reachable, 77 for what is not permitted.
    package var exitCode: Int32 {
        switch self {
        case .notReachable, .timedOut, .notHTTP: 69
        case .notPermitted: 77
        case .malformed: 1
        case .answered(let problem):
            switch problem.status {
            case 403: 77
            case 408, 503: 69
            default: 1
            }
        }
    }
}
