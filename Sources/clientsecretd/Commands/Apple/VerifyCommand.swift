import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model

/// `verify`: asks Apple whether it accepts the published secrets.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Ask Apple whether it accepts the published secrets.",
        discussion: """
            Sends each secret to Apple's token endpoint with a code that Apple never issued. Apple judges the secret first: \
            'invalid_grant' means that it accepts the secret, and 'invalid_client' that it refuses it. Any other \
            answer proves nothing. A refused secret is tried a second time. A secret of Apple Ads is exchanged for an \
            access token, and a token of MusicKit or the Maps Server API is sent to their test endpoints. A Maps token \
            for web pages cannot be tried.

            Exits 0 if Apple accepts all, 1 if it refuses one, or 3 if one is not known.

            Examples:
              clientsecretd verify web
              clientsecretd verify .env
              clientsecretd mint web | clientsecretd verify -
            """)

    @Argument(
        help: ArgumentHelp(
            """
            The clients to verify (default: all); or one file with the secret, JSON or variables. '-' is standard input.
            """, valueName: "client-or-file"),
        completion: .configuredClients)
    var subjects: [String] = []

    @OptionGroup var named: VariableOption
    @OptionGroup var server: ServerOptions
    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var answer: JSONFlag

    mutating func validate() throws {
        if named.variable != nil, subjects.count != 1 {
            throw ValidationError("--variable is for one file; name the file")
        }
        if subjects.count > 1, let file = subjects.first(where: { ClientName($0) == nil }) {
            throw ValidationError(
                "\(Printable.name(file)) is no client's name; name clients, or one file and nothing else")
        }
    }

    func run() throws {
        let verdict: CommandExitStatus
        do {
            verdict = try verify()
        } catch let failure as CommandFailure where failure.code == .failed {
            // 1 would say that Apple has refused a secret.
            throw CommandFailure(.notKnown, failure.message)
        }
        if verdict != .done { throw CommandFailure(verdict, "") }
    }

    private func verify() throws -> CommandExitStatus {
        try Hardening.protectSecrets()
        let found = try secrets()
        let program = try NetworkProgramLauncher(server)
        var rateLimit = RateLimit.requestsToApple
        var results: [VerifyResult] = []
        for (name, secret) in found {
            let result: VerifyResult
            switch secret {
            case .failure(let failure): result = .noSecret(of: name, why: failure.message)
            case .success(let secret): result = .asking(about: secret, program, &rateLimit)
            }
            results.append(result)
            if !answer.json {
                try CommandOutput.answer { terminal in
                    result.lines.flatMap { Paragraph.lines($0, columns: terminal.columns, indent: 4) }.map {
                        [Piece($0)]
                    }
                }
            }
        }
        if answer.json {
            try CommandOutput.answer(JSONText.object([("secrets", .array(results.map(\.json)))]).rendered)
        }
        return VerifyResult.exitCode(of: results)
    }

    private func secrets() throws -> [(ClientName?, Result<PublishedSecret, CommandFailure>)] {
        if let file { return [(nil, .success(try PublishedSecret(inFile: file, variable: named.variable)))] }
        // A word that is no client's name is a file, or was refused.
        let clients = subjects.compactMap { ClientName($0) }
        let settings = try AcceptedConfiguration(settings)
        for name in clients { try settings.client(name, isPerhapsFile: clients.count == 1) }
        let names = clients.isEmpty ? settings.loaded.configuration.clients.keys.sorted() : clients
        return names.flatMap { name in
            PublishedSecret.all(of: name, in: settings.loaded, from: settings.source).map { (name, $0) }
        }
    }

    /// The file that is named instead of clients; nil for clients. A file in the working directory may be named like a client,
    /// which is meant then.
    private var file: String? {
        guard subjects.count == 1, let subject = subjects.first else { return nil }
        if ClientName(subject) == nil || subject == NamedFile.standardInput || named.variable != nil { return subject }
        let file = ConfigurationLoader.absolutePath(of: subject)?.description ?? subject
        guard FileStatus.problem(accessing: file, F_OK) == nil else { return nil }
        let path = settings.path()
        let source = ConfigurationSource.ofService(path)
        guard let name = ClientName(subject), case .success(let loaded) = source.load() else { return subject }
        return loaded.configuration.clients[name] == nil ? subject : nil
    }
}
