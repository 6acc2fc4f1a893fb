import ArgumentParser

/// The path of the configuration: the flag, else the environment variable, else where packages install it.
struct ConfigurationOption: ParsableArguments {
    static let standard = "/etc/clientsecretd/clientsecretd.yaml"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration (default: $CLIENTSECRETD_CONFIG, else \(ConfigurationOption.standard)).",
            valueName: "file"),
        completion: .file())
    var config: String?

    func path(_ environment: [String: String]) -> String {
        Self.path(flag: config, environment)
    }

    static func path(flag: String?, _ environment: [String: String]) -> String {
        flag ?? chosen(environment["CLIENTSECRETD_CONFIG"]) ?? standard
    }

    mutating func validate() throws {
        if config?.isEmpty == true { throw ValidationError("--config needs the path of a file") }
    }
}

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
        socket ?? chosen(environment["CLIENTSECRETD_SOCKET"]) ?? Self.standard
    }

    mutating func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--socket needs the path of a socket") }
    }
}

struct JSONFlag: ParsableArguments {
    @Flag(name: .long, help: "Answer in JSON.")
    var json = false
}

/// How a secret is written: the file formats of outputs.
struct FormOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case raw
        case env
        case json
    }

    @Option(help: "How the secret is written.")
    var format = Format.raw

    @Option(help: ArgumentHelp("The variable that --format env sets.", valueName: "name"), transform: Flags.variable)
    var variable: String?

    mutating func validate() throws {
        if format == .env, variable == nil {
            throw ValidationError("--format env needs --variable, such as --variable APPLE_CLIENT_SECRET")
        }
        if format != .env, variable != nil {
            throw ValidationError("--variable belongs to --format env")
        }
    }
}

/// An empty variable counts as unset.
private func chosen(_ value: String?) -> String? {
    value.flatMap { $0.isEmpty ? nil : $0 }
}
