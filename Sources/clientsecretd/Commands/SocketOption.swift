import ArgumentParser
import Daemon
import StatusAPI

/// The path of the daemon's status socket: the flag, else the environment variable, else the daemon's default.
struct SocketOption: ParsableArguments {
    static let standard = "/run/clientsecretd/clientsecretd.sock"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's status socket (default: $CLIENTSECRETD_SOCKET, else \(SocketOption.standard)).",
            valueName: "path"),
        completion: .file())
    var socket: String?

    func path(_ environment: [String: String]) -> String {
        Self.path(flag: socket, environment)
    }

    static func path(flag: String?, _ environment: [String: String]) -> String {
        flag ?? Environment.chosen(environment["CLIENTSECRETD_SOCKET"]) ?? standard
    }

    /// A client of the daemon there.
    func client(timeouts: StatusClient.Timeouts = StatusClient.Timeouts()) -> StatusClient {
        let environment = Environment.current
        let path = path(environment)
        // Which configuration another socket's daemon reads is not known here.
        let configuration = path == Self.standard ? ConfigurationOption.path(flag: nil, environment) : nil
        return StatusClient(
            socket: path, timeouts: timeouts, serviceUser: ServiceUnit.daemonUser, configuration: configuration)
    }

    mutating func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--socket needs the path of a socket") }
    }
}
