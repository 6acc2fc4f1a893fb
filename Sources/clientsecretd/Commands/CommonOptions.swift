import ArgumentParser
import Formats

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

/// How a secret is written: the formats of outputs that need nothing but a variable.
struct FormOptions: ParsableArguments {
    struct Format: ExpressibleByArgument {
        let type: any OutputFormat.Type

        static let all = Formats.all.filter { $0.setting == nil || $0.setting?.scope == .place }
        /// The options that need a variable, as a part of a sentence.
        static let withVariable =
            all.filter { $0.setting != nil }.map { "--format " + $0.name }.joined(separator: " or ")
        static var allValueStrings: [String] { all.map { $0.name } }
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

        init(_ type: any OutputFormat.Type) { self.type = type }

        init?(argument: String) {
            guard let type = Self.all.first(where: { $0.name == argument }) else { return nil }
            self.type = type
        }

        var defaultValueDescription: String { type.name }
    }

    @Option(help: "How the secret is written.")
    var format = Format(Formats.standard)

    @Option(
        help: ArgumentHelp("The variable that \(Format.withVariable) sets.", valueName: "name"),
        transform: Flags.variable)
    var variable: String?

    var place: FormatPlace { variable.map(FormatPlace.variable) ?? .whole }

    mutating func validate() throws {
        if let setting = format.type.setting, variable == nil {
            throw ValidationError(
                "--format \(format.type.name) needs --\(setting.name), such as --\(setting.name) APPLE_CLIENT_SECRET")
        }
        if format.type.setting == nil, variable != nil {
            throw ValidationError("--variable belongs to \(Format.withVariable)")
        }
    }
}

/// An empty variable counts as unset.
private func chosen(_ value: String?) -> String? {
    value.flatMap { $0.isEmpty ? nil : $0 }
}
