import ArgumentParser
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
    func client(patience: StatusClient.Patience = StatusClient.Patience()) -> StatusClient {
        StatusClient(socket: path(Environment.current), patience: patience, serviceUser: ServiceUser.name)
    }

    mutating func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--socket needs the path of a socket") }
    }
}
