import ArgumentParser
import Config
import Daemon
import Failures
import StatusAPI

/// The path of the daemon's status socket: the flag, else the environment variable, else the daemon's default.
struct SocketOption: ParsableArguments {
    static let standard = "/run/clientsecretd/clientsecretd.sock"

    @Option(
        name: .long,
        help: .value(
            "path", "The daemon's status socket (default: $CLIENTSECRETD_SOCKET, else \(SocketOption.standard))."),
        completion: .file())
    var socket: String?

    func path(_ environment: [String: String] = OwnEnvironment.current) -> String {
        Self.path(flag: socket, environment)
    }

    static func path(flag: String?, _ environment: [String: String] = OwnEnvironment.current) -> String {
        flag ?? OwnEnvironment.chosen(environment["CLIENTSECRETD_SOCKET"]) ?? standard
    }

    /// A client of the daemon there.
    func client(timeouts: StatusClient.Timeouts = StatusClient.Timeouts()) -> StatusClient {
        let path = path()
        return StatusClient(
            socket: path, timeouts: timeouts, serviceUser: ServiceUnit.daemonUser,
            configuration: Self.configuration(ofDaemonAt: path, CommandContext.current),
            whenUnreached: { CommandContext.noteUnreached(at: path) })
    }

    /// The configuration without which no daemon is expected at a socket. It is the one that this command is about, whether a
    /// flag or the environment names it. Nil for another socket: which configuration its daemon reads is not known here. Nil also
    /// if root keeps a last good copy, with which the daemon runs although the file is missing.
    static func configuration(
        ofDaemonAt socket: String, _ context: CommandContext,
        copiesIn directory: String = LastGoodConfiguration.directory
    ) -> String? {
        guard socket == standard else { return nil }
        let path = context.configuration ?? ServiceUser.configuration
        let main = ConfigurationLoader.absolutePath(of: path)
        return main.map { LastGoodConfiguration.isKept($0, in: directory) } == true ? nil : path
    }

    mutating func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--socket needs the path of a socket") }
    }
}
