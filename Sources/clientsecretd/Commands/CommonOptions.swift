import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Formats
import Glibc
import Linux
import Model
import StatusAPI

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
        Self.path(flag: socket, environment)
    }

    static func path(flag: String?, _ environment: [String: String]) -> String {
        flag ?? chosen(environment["CLIENTSECRETD_SOCKET"]) ?? standard
    }

    /// A client of the daemon there.
    func client(patience: StatusClient.Patience = StatusClient.Patience()) -> StatusClient {
        StatusClient(socket: path(Environment.current), patience: patience, serviceUser: ServiceUser.name)
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

        static let all = FormatRegistry.all.filter { $0.setting == nil || $0.setting?.scope == .place }
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

    @Option(help: "The form of the secret.")
    var format = Format(FormatRegistry.standard)

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

/// Parses the values of flags; an error says what to write instead.
enum Flags {
    /// What a command line that was not parsed yet gives for a flag; nil where it does not have it.
    static func value(of flag: String, in words: [String]) -> String? {
        var value: String?
        for (index, word) in words.enumerated() {
            if word.hasPrefix(flag + "=") { value = String(word.dropFirst(flag.count + 1)) }
            if word == flag, index + 1 < words.count { value = words[index + 1] }
        }
        return value
    }

    static func team(_ text: String) throws -> TeamID {
        try valid(
            TeamID(text),
            "a team id is ten characters A-Z and 0-9, such as DEF123GHIJ; of Apple Ads, SEARCHADS. and an id")
    }

    static func keyID(_ text: String) throws -> KeyID {
        try valid(
            KeyID(text), "a key id is ten characters A-Z and 0-9, such as ABC123DEFG; of Apple Ads, a UUID")
    }

    static func clientID(_ text: String) throws -> ClientID {
        try valid(
            ClientID(identifier: text), "a client id has letters, digits, '.', '-' and '_', such as com.example.web")
    }

    static func clientName(_ text: String) throws -> ClientName {
        try valid(ClientName(text), "a client's name has letters, digits, '.', '-' and '_', at most 64 of them")
    }

    static func keyName(_ text: String) throws -> KeyName {
        try valid(KeyName(text), "a key's name has letters, digits, '.', '-' and '_', at most 64 of them")
    }

    static func lifetime(_ text: String, of kind: TokenKind) throws -> Lifetime {
        try valid(DurationText.lifetime(text, of: kind), lifetimes(of: kind))
    }

    static func lifetimes(of kind: TokenKind) -> String {
        "write a lifetime like 90d, 12h or 1d12h, from 60s to \(DurationText.text(kind.rules.longest)), or max"
    }

    static func kind(_ text: String) throws -> TokenKind {
        try valid(TokenKind(text), "a kind is one of \(TokenKind.names)")
    }

    static func origin(_ text: String) throws -> WebOrigin {
        try valid(
            WebOrigin(page: text),
            "write an origin like https://www.example.com, without a path or a slash at its end")
    }

    static func span(_ text: String) throws -> Seconds {
        try valid(DurationText.parse(text), "write a duration like 21d, 12h or 1d12h")
    }

    static func variable(_ text: String) throws -> String {
        try valid(
            VariableName.isValid(text) ? text : nil,
            "a variable's name has letters, digits and '_', such as APPLE_CLIENT_SECRET")
    }

    static func unit(_ text: String) throws -> String {
        try valid(UnitName.isValid(text) ? text : nil, "write a unit as systemctl shows it, such as myapp.service")
    }

    /// A user or a group, who need not exist here.
    static func account(_ text: String) throws -> String {
        try valid(
            isPlainName(text) ? text : nil, "an account's name has letters, digits, '.', '-' and '_', such as app")
    }

    static func credential(_ text: String) throws -> String {
        try valid(
            isPlainName(text) ? text : nil,
            "a credential's name has letters, digits, '.', '-' and '_', such as apple-client-secret")
    }

    /// Whether it is the same in a unit's file, tmpfiles.d, YAML and a shell.
    private static func isPlainName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 255, !"-.".utf8.contains(first) else { return false }
        return text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
    }

    /// The absolute path of a file.
    static func path(_ text: String) throws -> AbsolutePath {
        try valid(
            ConfigurationLoader.absolutePath(of: text),
            "this is not the path of a file; write an absolute path without '..'")
    }

    /// The key id given, else the one in the key file's name.
    static func keyID(_ given: KeyID?, of key: AbsolutePath) throws -> KeyID {
        try valid(
            given ?? KeyID(fileName: key.name),
            "the name of '\(key.name)' is not AuthKey_<KEYID>.p8; add --key-id")
    }

    private static func valid<Value>(_ value: Value?, _ advice: String) throws -> Value {
        guard let value else { throw ValidationError(advice) }
        return value
    }
}

extension CompletionKind {
    /// The names of the configured clients, for a shell that completes a command line.
    static var configuredClients: CompletionKind {
        .custom { words, _, _ in ClientNames.known(to: words) }
    }
}

enum ClientNames {
    /// The clients of the configuration that `--config` in `words` names, or of the default one. Empty where it cannot
    /// be read: a completion never reports errors.
    static func known(to words: [String]) -> [String] {
        let source = ConfigurationSource(path: path(in: words), environment: Environment.current)
        guard case .success(let loaded) = source.load() else { return [] }
        return loaded.configuration.clients.keys.sorted().map(\.description)
    }

    private static func path(in words: [String]) -> String {
        ConfigurationOption.path(flag: Flags.value(of: "--config", in: words), Environment.current)
    }
}

extension CommandContext {
    /// What this command line says, and the environment where it does not.
    init(arguments words: [String], _ environment: [String: String]) {
        func named(_ path: String, unless standard: String) -> String? {
            path == standard || path == NamedFile.standardInput
                ? nil : ConfigurationLoader.absolutePath(of: path)?.description
        }
        self.init(
            configuration: named(
                ConfigurationOption.path(flag: Flags.value(of: "--config", in: words), environment),
                unless: ConfigurationOption.standard),
            socket: named(
                SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment),
                unless: SocketOption.standard),
            hasSystemd: SystemManager.isSystemd,
            hasDaemon: words.first == "run"
                ? !words.contains("--once")
                : !words.contains("--offline")
                    && FileStatus.following(
                        SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment))?.kind == .socket
        )
    }
}

/// The configuration; one that is refused has its mistakes printed on standard error, and its exit code thrown.
func accepted(_ result: Result<LoadedConfiguration, Refusal>) throws(CommandFailure) -> LoadedConfiguration {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let refusal):
        for diagnostic in refusal.diagnostics { CommandOutput.complain(lines: diagnostic.description) }
        throw CommandFailure(.configuration, "")
    }
}

/// The variables that the program was started with.
enum Environment {
    static let current: [String: String] = {
        var all: [String: String] = [:]
        var next = unsafe environ
        while let text = unsafe next.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Of two with one name the first counts, as for getenv(3).
            if parts.count == 2 { all.merge([String(parts[0]): String(parts[1])]) { first, _ in first } }
            unsafe next += 1
        }
        return all
    }()
}
