import AppleClientSecret
import ArgumentParser
import Failures
import Model
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct CommandLineTests {
    /// The words with which a command line is refused, on its first line.
    private func refusal(_ arguments: [String]) -> String {
        do {
            _ = try ClientSecretD.parseAsRoot(arguments)
            return "accepted"
        } catch {
            #expect(ClientSecretD.exitCode(for: error).rawValue == 64)
            return String(ClientSecretD.message(for: error).prefix { $0 != "\n" })
        }
    }

    private static let key = ["--key", "/x/AuthKey_ABC123DEFG.p8"]
    private static let ids = ["--team-id", "DEF123GHIJ", "--client-id", "com.example.web"]

    @Test(arguments: [
        ("mint", "name a client of the configuration, or give --key, --team-id and --client-id"),
        (
            "mint web --team-id DEF123GHIJ",
            "a configured client has its key and ids in the configuration; remove the flags or the name"
        ),
        (
            "verify out/a.env web",
            "out/a.env is no client's name; name clients, or one file and nothing else"
        ),
        ("mint web --format env", "--format env needs --variable, such as --variable APPLE_CLIENT_SECRET"),
        ("mint web --variable X", "--variable belongs to --format env"),
        (
            "renew --deliver-only --due-within 21d",
            "--deliver-only mints nothing, so --due-within has nothing to choose; leave one out"
        ),
    ])
    func flagsThatDoNotFitTogetherAreRefused(line: String, words: String) {
        #expect(refusal(line.split(separator: " ").map(String.init)) == words)
    }

    @Test(arguments: [
        (["--team-id", "short"], "a team id is ten characters A-Z and 0-9, such as DEF123GHIJ"),
        (["--key-id", "abc123defg"], "a key id is ten characters A-Z and 0-9, such as ABC123DEFG"),
        (["--client-id", "a b"], "a client id has letters, digits, '.', '-' and '_', such as com.example.web"),
        (["--lifetime", "59s"], "write a lifetime like 90d, 12h or 1d12h, from 60s to 182d14h25m, or max"),
        (["--lifetime", "183d"], "write a lifetime like 90d, 12h or 1d12h, from 60s to 182d14h25m, or max"),
        (["--variable", "1X"], "a variable's name has letters, digits and '_', such as APPLE_CLIENT_SECRET"),
        (["--key", "/a/../b"], "this is not the path of a file; write an absolute path without '..'"),
        (["we b"], "a client's name has letters, digits, '.', '-' and '_', at most 64 of them"),
    ])
    func aBadValueIsRefusedWithAGoodOne(arguments: [String], words: String) {
        #expect(refusal(["mint"] + arguments).contains(": " + words))
    }

    /// As in the configuration.
    @Test(arguments: ["clientsecretd", "clientsecretd.service"]) func theDaemonsOwnUnitIsNotRestarted(unit: String) {
        let words = "\"\(unit)\" is the daemon's own; write the unit of the program that reads the secret"
        #expect(refusal(["init", "--restart", unit]).contains(": " + words))
    }

    @Test(arguments: [
        "http://127.0.0.1", "ftp://127.0.0.1", "127.0.0.1", "https://", "https://user@example.com",
        "https://example.com?a=b", "https://example.com/#a", "https://example.com:0", "https://exa mple.com",
    ])
    func aServerIsAnAddressWithHTTPS(endpoint: String) {
        #expect(refusal(["verify", "--endpoint", endpoint]).hasSuffix("always with https"))
    }

    @Test func aKeyThatIsNotCalledAsAppleCallsItNeedsItsID() throws {
        let words = "the name of 'key.pem' is not AuthKey_<KEYID>.p8; add --key-id"
        #expect(refusal(["mint", "--key", "/x/key.pem"] + Self.ids) == words)
        #expect(
            refusal(["mint", "--key", "/x/AuthKey_\(Self.ids[1]).p8", "--key-id", "ABC123DEFG"] + Self.ids)
                == "--team-id is the key id in the file's name; write the team id, which Apple shows under Membership")
        let named = try ClientSecretD.parseAsRoot(["mint"] + Self.key + Self.ids)
        #expect((named as? MintCommand)?.kind.clientID?.description == "com.example.web")
    }

    @Test func theFlagGoesBeforeTheVariableAndThatBeforeTheDefault() throws {
        let none = try ConfigurationOption.parse([])
        #expect(none.path([:]) == "/etc/clientsecretd/clientsecretd.yaml")
        #expect(none.path(["CLIENTSECRETD_CONFIG": ""]) == "/etc/clientsecretd/clientsecretd.yaml")
        #expect(none.path(["CLIENTSECRETD_CONFIG": "/x"]) == "/x")
        #expect(try ConfigurationOption.parse(["--config", "/y"]).path(["CLIENTSECRETD_CONFIG": "/x"]) == "/y")
        let socket = try SocketOption.parse([])
        #expect(socket.path([:]) == "/run/clientsecretd/clientsecretd.sock")
        #expect(socket.path(["CLIENTSECRETD_SOCKET": "/x"]) == "/x")
        #expect(try SocketOption.parse(["--socket", "/y"]).path(["CLIENTSECRETD_SOCKET": "/x"]) == "/y")
        #expect(refusal(["status", "--socket", ""]) == "--socket needs the path of a socket")
        #expect(refusal(["check", "--config", ""]) == "--config needs the path of a file")
    }

    /// A command to another daemon than that of the configuration would not do what it is printed for.
    @Test(
        arguments: [
            ("check", [:], true), ("check --config=/etc/clientsecretd/clientsecretd.yaml", [:], true),
            ("check --config /srv/b.yaml", [:], false),
            ("check --config /srv/b.yaml --socket /run/b.sock", [:], true),
            ("check --config /srv/b.yaml --socket /run/clientsecretd/clientsecretd.sock", [:], true),
            ("run --config /srv/b.yaml", [:], true),
            // The environment names them as a flag does.
            ("check", ["CLIENTSECRETD_CONFIG": "/srv/b.yaml"], false),
            ("check", ["CLIENTSECRETD_CONFIG": "/srv/b.yaml", "CLIENTSECRETD_SOCKET": "/run/b.sock"], true),
        ] as [(String, [String: String], Bool)])
    func theServicesSocketIsOfTheServicesConfigurationOnly(
        line: String, environment: [String: String], isKnown: Bool
    ) {
        let words = line.split(separator: " ").map(String.init)
        #expect(CommandContext(arguments: words, environment, hasSystemd: true).knowsDaemon == isKnown)
        #expect(CommandContext(arguments: words, environment, hasSystemd: false).knowsDaemon)
    }

    /// Without the flag, the command that is printed would know no daemon, and find fewer commands.
    @Test(
        arguments: [
            ("check --config /srv/b.yaml --socket /run/clientsecretd/clientsecretd.sock", [:]),
            ("check --config /srv/b.yaml", ["CLIENTSECRETD_SOCKET": SocketOption.standard]),
        ] as [(String, [String: String])])
    func aPrintedCheckKnowsTheDaemonThatThisOneKnows(line: String, environment: [String: String]) async {
        let context = CommandContext(
            arguments: line.split(separator: " ").map(String.init), environment, hasSystemd: true)
        #expect(context.knowsDaemon && context.decidingSocket == SocketOption.standard)
        // Commands to the daemon need no flag for the default socket.
        #expect(context.socket == nil)
        await #expect(processExitsWith: .success) {
            let words = ["check", "--config", "/srv/b.yaml", "--socket", SocketOption.standard]
            CommandContext(arguments: words, [:], hasSystemd: true).use()
            #expect(
                ShellCommand.checkFix?.text
                    == "clientsecretd check --fix --config /srv/b.yaml --socket \(SocketOption.standard)")
            #expect(ShellCommand.renew("web")?.text == "clientsecretd renew web")
            #expect(
                ShellCommand.runDaemon(at: "/run/b.sock")?.text
                    == "clientsecretd run --socket /run/b.sock --config /srv/b.yaml")
        }
    }

    /// `check --fix` runs the commands that another `check` finds.
    @Test(arguments: [
        "check --fix", "check --fix --config /srv/b.yaml", "check --fix --socket=/run/b.sock",
        "check --fix --config=/srv/b.yaml --socket /run/b.sock",
    ])
    func theCheckThatAFixRunsKnowsNoOtherDaemon(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let flags = try CheckCommand.parse(Array(words.dropFirst())).flags
        #expect(
            CommandContext(arguments: ["check", "--json"] + flags, [:], hasSystemd: true)
                == CommandContext(arguments: words, [:], hasSystemd: true))
    }

    /// The service may read another configuration than the default one, by a drop-in.
    @Test(arguments: [
        ("health --config /srv/b.yaml", "/srv/b.yaml", true), ("health --config /srv/b.yaml", "/srv/c.yaml", false),
        ("health --config /srv/b.yaml --socket /run/b.sock", "/srv/c.yaml", true), ("health", "/srv/c.yaml", true),
    ])
    func aDaemonCountsOnlyForTheConfigurationThatItReads(line: String, read: String, counts: Bool) {
        let context = CommandContext(
            arguments: line.split(separator: " ").map(String.init), [:], hasSystemd: true)
        let snapshot = Snapshot(
            startedAt: WallTime(secondsSinceEpoch: 0), ready: true, health: .ok, reason: nil, clockTrusted: true,
            configuration: ConfigurationView(path: read, loadedAt: WallTime(secondsSinceEpoch: 0), error: nil),
            clients: [])
        #expect((context.objection(to: snapshot, asDaemonOf: "/srv/b.yaml") == nil) == counts)
    }

    /// That the default is missing says nothing about a daemon for which another one is named.
    @Test func aMissingConfigurationIsTheOneThatIsNamed() throws {
        let copies = try TemporaryDirectory()
        func missing(_ line: String, _ environment: [String: String] = [:]) -> String? {
            let words = line.split(separator: " ").map(String.init)
            let context = CommandContext(arguments: words, environment, hasSystemd: false)
            return SocketOption.configuration(
                ofDaemonAt: SocketOption.path(flag: nil, environment), context, copiesIn: copies.path)
        }
        #expect(missing("health") == ConfigurationOption.standard)
        #expect(missing("health --config /srv/b.yaml") == "/srv/b.yaml")
        #expect(missing("doctor", ["CLIENTSECRETD_CONFIG": "/srv/b.yaml"]) == "/srv/b.yaml")
        #expect(missing("doctor --config /srv/b.yaml", ["CLIENTSECRETD_SOCKET": "/run/b.sock"]) == nil)
        // With the last good copy the daemon runs, or only has to be started.
        try copies.write("{}", to: "srv-b.yaml.json")
        #expect(missing("health --config /srv/b.yaml") == nil)
        #expect(missing("health --config /srv/c.yaml") == "/srv/c.yaml")
    }

    @Test func commandsNameTheDefaultWhereTheEnvironmentNamesAnother() {
        let words = ["check", "--config", ConfigurationOption.standard, "--socket", SocketOption.standard]
        let other = ["CLIENTSECRETD_CONFIG": "/srv/b.yaml", "CLIENTSECRETD_SOCKET": "/run/b.sock"]
        let context = CommandContext(arguments: words, other)
        #expect(context.configuration == ConfigurationOption.standard)
        #expect(context.socket == SocketOption.standard)
        #expect(CommandContext(arguments: words, [:]).configuration == nil)
    }

    /// With the flags that name another configuration and another daemon.
    @Test func everyCommandOfThisProgramThatIsPrintedIsAccepted() async {
        await #expect(processExitsWith: .success) {
            CommandContext(configuration: "/srv/b.yaml", socket: "/run/b.sock").use()
            let commands: [ShellCommand?] = [
                .renew("web"), .deliver("web"), .reload, .status, .statusOfFleet, .resumeRollout("web"),
                .showRollout("web"), .check, .checkFix, .initialize, .doctor, .runDaemon, .verify("web"),
                .inspect("/srv/app/.env"),
            ]
            for command in commands {
                let words = (command?.text ?? "none").split(separator: " ").map(String.init)
                #expect(words.first == "clientsecretd")
                #expect(throws: Never.self, "\(words)") {
                    _ = try ClientSecretD.parseAsRoot(Array(words.dropFirst()))
                }
            }
        }
    }

    @Test func aCommandThatDoesNotExist() {
        let near = CommandFailure(.usage, "there is no command \"staus\"; did you mean \"status\"?")
        #expect(ClientSecretD.refusal(of: ["staus"]) == near)
        let far = CommandFailure(.usage, "there is no command \"42\"; to list the commands: clientsecretd --help")
        #expect(ClientSecretD.refusal(of: ["42", "status"]) == far)
        let none = CommandFailure(.usage, "no command given; to list the commands: clientsecretd --help")
        #expect(ClientSecretD.refusal(of: []) == none)
        #expect(ClientSecretD.refusal(of: ["help", "staus"]) == near)
        for words in [["--help"], ["help"], ["status"], ["run", "staus"], ["help", "status"], ["help", "--help"]] {
            #expect(ClientSecretD.refusal(of: words) == nil, "\(words)")
        }
    }

    @Test func theFlagsOfARenewalAreRead() throws {
        let command = try #require(
            try ClientSecretD.parseAsRoot(["renew", "web", "shop", "--due-within", "21d", "--skip-verify"])
                as? RenewCommand)
        #expect(command.clients.map(\.description) == ["web", "shop"])
        #expect(command.dueWithin == 1_814_400)
        #expect(command.skipVerify)
        #expect(!command.deliverOnly)
    }
}
