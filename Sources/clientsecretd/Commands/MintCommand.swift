import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Formats
import Keys
import Linux
import Model

/// `mint`: prints one secret to standard output.
struct MintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint",
        abstract: "Mint one secret and print it.",
        discussion: """
            Takes a client of the configuration, or --key, --team-id and --client-id. Kinds music and maps have no \
            client id. The secret is only printed. The daemon does not manage it.

            Examples:
              clientsecretd mint web
              clientsecretd mint --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ \\
                  --client-id com.example.web
              clientsecretd mint --kind music --key AuthKey_ABC123DEFG.p8 \\
                  --team-id DEF123GHIJ
            """)

    @Argument(help: "A client of the configuration.", completion: .configuredClients, transform: Flags.clientName)
    var name: ClientName?

    @OptionGroup var settings: ConfigurationOption

    @OptionGroup var signing: KeyOptions

    @OptionGroup var kind: KindOptions

    @Option(help: .value("duration", "60s to the longest of the kind, or max (default: the client's, else 90d)."))
    var lifetime: String?

    @OptionGroup var form: FormatOptions

    mutating func validate() throws {
        if name == nil {
            if let lifetime, DurationText.lifetime(lifetime, of: kind.kind) == nil {
                throw ValidationError(Flags.lifetimes(of: kind.kind))
            }
            guard let key = signing.key, let teamID = signing.teamID, kind.clientID != nil || !kind.kind.hasClient
            else {
                throw ValidationError("name a client of the configuration, or give --key, --team-id and --client-id")
            }
            try kind.check(team: teamID, keyID: try Flags.keyID(signing.keyID, of: key))
            _ = try kind.client()
            if KeyID(fileName: key.name)?.description == teamID.description {
                throw ValidationError(
                    "--team-id is the key id in the file's name; write the team id, which Apple shows under Membership")
            }
        } else if signing.key != nil || signing.keyID != nil || signing.teamID != nil || kind.isGiven {
            throw ValidationError(
                "a configured client has its key and ids in the configuration; remove the flags or the name")
        }
    }

    func run() throws {
        try Hardening.protectSecrets()
        // By such a clock it would be useless.
        if let failure = Failure.ofMintingNow { throw CommandFailure(.failed, failure.sentence) }
        try print(name.map(configured) ?? fromFlags())
    }

    private func fromFlags() throws -> Secret {
        guard let key = signing.key, let teamID = signing.teamID else { throw CleanExit.helpRequest(self) }
        let client = try kind.client()
        let lifetime = try givenLifetime(of: kind.kind) ?? .standard
        let entry = KeyConfiguration(team: teamID, keyID: try Flags.keyID(signing.keyID, of: key), location: .file(key))
        if let mixup = IdentifierMixup(client: client, team: teamID, keyID: entry.keyID) {
            throw CommandFailure(
                .usage,
                "Apple would refuse the secret, because it \(mixup.words); see --client-id, --team-id and --key-id")
        }
        do throws(Failure) {
            return try mint(
                entry, with: KeyLoader(as: ServiceUser.identity(forKey: key), credentials: nil), for: client,
                lifetime: lifetime)
        } catch {
            throw CommandFailure(keyNamedByFlag: error)
        }
    }

    private func configured(_ name: ClientName) throws -> Secret {
        let settings = try AcceptedConfiguration(settings)
        let client = try settings.client(name)
        let known = settings.loaded.configuration
        guard client.source == nil, let entry = known.keys[client.key] else {
            throw CommandFailure(
                .usage,
                "client \"\(name)\" receives its secrets, so there is no private key to mint with; mint on the machine "
                    + "that has it, or see with 'status' what was received")
        }
        let lifetime = try givenLifetime(of: client.clientID.kind) ?? client.lifetime
        do throws(Failure) {
            return try mint(
                entry,
                with: KeyLoader(as: settings.source.identity.trusting(known), credentials: settings.source.credentials),
                for: client.clientID, lifetime: lifetime)
        } catch {
            CommandOutput.complain(
                lines: FailurePositions(in: settings.loaded).diagnostic(error, client: name).description)
            throw CommandFailure(configuredKey: error)
        }
    }

    /// Nil without the flag.
    private func givenLifetime(of kind: TokenKind) throws(CommandFailure) -> Lifetime? {
        guard let lifetime else { return nil }
        guard let parsed = DurationText.lifetime(lifetime, of: kind) else {
            throw CommandFailure(.usage, Flags.lifetimes(of: kind))
        }
        return parsed
    }

    private func mint(
        _ entry: KeyConfiguration, with loader: KeyLoader, for client: ClientID, lifetime: Lifetime
    ) throws(Failure) -> Secret {
        return try loader.load(entry).mint(
            Claims(issuer: entry.team, keyID: entry.keyID, subject: client, now: .now, lifetime: lifetime))
    }

    private func print(_ minted: Secret) throws {
        let secret = RenderedSecret(token: minted.token.withBytes { $0 }, claims: minted.issued.claims)
        var bytes = try form.format.type.init(parameter: nil).render([form.slot: secret], into: [])
        // As in a file, but on a terminal a line break keeps the prompt off the secret's line.
        if Terminal.current().isInteractive, bytes.last != UInt8(ascii: "\n") {
            bytes.append(UInt8(ascii: "\n"))
        }
        try CommandOutput.answer(bytes: bytes)
    }
}
