import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Formats
import Linux
import Model
import Outputs

/// The values that `init` needs: by flags, from a file with a client secret, or by answers at a terminal.
struct InitAnswers {
    var key: AbsolutePath?
    var keyID: KeyID?
    var team: TeamID?
    /// Nil: the client's kind.
    var kind: TokenKind?
    var client: ClientID?
    var name: ClientName?
    var output: AbsolutePath?
    var format: FormatOptions.Format?
    var variable: String?
    var user: String?
    var group: String?
    var credential: String?
    var unit: String?
    /// systemd's action on the unit; nil: the program's own one, or a restart.
    var verb: Action.UnitVerb?
    /// The place behind an API for the secret.
    var target: InitTarget?
    /// The program of `--app`.
    var app: AppPreset?
    /// The key id in the secret of `--from`: used if the key file's name has none.
    var formerKeyID: KeyID?
    /// Whether `--from` has named the place of the secret.
    var isFromFile = false
    /// A key of the configuration to which a client is added; nil: the client has its own.
    var existingKey: KeyName?

    /// Takes values from the secret in a file, if the flags do not give them.
    ///
    /// - Parameters:
    ///   - path: the file's.
    ///   - user: the user that owns it; nil: the daemon's own.
    mutating func adopt(_ found: FoundClient, in path: AbsolutePath, of user: String?) {
        team = team ?? found.team
        client = client ?? found.client
        formerKeyID = found.keyID
        // Only the ids count if the flags name another place.
        guard output == nil, credential == nil, target == nil else {
            if case .variable(let name) = found.place, output == nil { target?.adopt(variable: name) }
            return
        }
        switch found.place {
        case .unwritable: return
        case .variable(let name):
            variable = name
            format = FormatOptions.Format(FormatRegistry.environment)
        case .whole(let name):
            format = format ?? FormatRegistry.named(name).map { FormatOptions.Format($0) }
        }
        output = path
        if group == nil { self.user = self.user ?? user }
        isFromFile = true
    }

    /// Takes the settings that the program of `--app` needs, if the flags do not give others. Does nothing, and returns false, if
    /// the file of `--from` has another format. Then the program reads its secret in another way than the preset assumes.
    @discardableResult
    mutating func adopt(_ app: AppPreset) -> Bool {
        guard !isFromFile || format?.name == app.format else { return false }
        self.app = app
        if verb == nil {
            verb = app.verb
            if verb != nil { unit = unit ?? app.unit }
        }
        guard credential == nil, format == nil || format?.name == app.format else { return true }
        format = FormatRegistry.named(app.format).map { FormatOptions.Format($0) }
        variable = variable ?? app.variable
        return true
    }

    /// Takes the user that owns the output, if no flag names one and it is not the daemon's own.
    mutating func adoptOwner(isOfService: Bool) throws(CommandFailure) {
        guard user == nil, group == nil, let output else { return }
        user = try InitSource.user(owning: output, isOfService: isOfService)
    }

    /// Takes the format that the output already has or that its name shows, if the flags name none. For an environment file it
    /// also takes the variable, if exactly one holds an Apple client secret.
    mutating func adoptFormat() {
        guard format == nil, let output else { return }
        let isNamedSo = DotenvPrecedence.isOne(output.name) || output.name.hasSuffix(".env")
        guard
            let found = contentOfOutput.flatMap(FormatRegistry.guess) ?? (isNamedSo ? FormatRegistry.environment : nil)
        else { return }
        format = FormatOptions.Format(found)
        guard found.name == FormatRegistry.environment.name, variable == nil else { return }
        let holders = variablesWithSecret
        if holders.count == 1 { variable = holders.first }
    }

    /// The variables of the output that hold a client secret already, expired or not.
    var variablesWithSecret: [String] {
        guard let output, let content = contentOfOutput else { return [] }
        return FoundClient.all(in: content, of: output.description).compactMap(\.variable)
    }

    private var contentOfOutput: [UInt8]? {
        guard let output, FileStatus.following(output.description)?.kind == .regular else { return nil }
        return try? NamedFile.read(output.description, limit: OutputLimits.fileSize)
    }

    /// Whether the place of the secret is known already.
    var hasDestination: Bool {
        output != nil || format != nil || variable != nil || user != nil || group != nil || credential != nil
    }

    /// Contradictions, even if values are still missing.
    ///
    /// - Parameter canAsk: whether a person will be asked for values that other flags require.
    func validate(canAsk: Bool = false) throws {
        if !canAsk, let key, keyID == nil, formerKeyID == nil { _ = try Flags.keyID(nil, of: key) }
        if target != nil, app != nil, output == nil {
            throw ValidationError("--app needs a file; name one with --output, or remove --app")
        }
        if credential != nil, app != nil {
            throw ValidationError("--app needs a file; remove --credential")
        }
        if credential != nil, output != nil || format != nil || variable != nil || user != nil || group != nil {
            throw ValidationError(
                "--credential writes no file; remove --output, --format, --variable, --as and --group")
        }
        if user != nil, group != nil {
            throw ValidationError("--group is for the daemon's own files; a file written --as its user keeps its group")
        }
        try (format ?? FormatOptions.Format(FormatRegistry.standard)).check(variable, canAsk: canAsk)
    }

    /// The flags that are still needed.
    var missing: [String] {
        let isUnread = credential != nil && unit == nil
        let needed = [
            ("--key", key == nil && existingKey == nil), ("--team-id", team == nil && existingKey == nil),
            ("--client-id", client == nil),
            (
                "--output, --credential or --push",
                output == nil && credential == nil && (target == nil || hasDestination)
            ),
            ("--restart", isUnread),
        ]
        return needed.filter(\.1).map(\.0) + (target?.missing ?? [])
    }

    /// Throws missing or wrong values.
    ///
    /// - Parameter isOfService: whether systemd hands over tokens.
    func configuration(isOfService: Bool = false) throws -> NewConfigurationFile {
        try validate()
        guard missing.isEmpty, let client, let name = name ?? ClientName("web") else {
            throw CommandFailure(
                .usage, "there is no terminal to prompt at; add " + missing.joined(separator: ", "))
        }
        let file = output.map { path in
            NewConfigurationFile.OutputFile(
                path: path, format: (format?.type ?? FormatRegistry.standard).name, variable: variable, user: user,
                group: group)
        }
        return NewConfigurationFile(
            key: try keyEntry(), name: name, client: client,
            destination: credential.map(NewConfigurationFile.Destination.credential)
                ?? file.map(NewConfigurationFile.Destination.file),
            target: target?.entry(isOfService: isOfService), unit: unit, verb: verb ?? .restart)
    }

    private func keyEntry() throws -> NewConfigurationFile.KeyEntry {
        if let existingKey { return .existing(existingKey) }
        guard let team, let key else { throw CommandFailure(.usage, "name the key with --key") }
        let inName = KeyID(fileName: key.name)
        let id = try Flags.keyID(keyID ?? inName ?? formerKeyID, of: key)
        if team.description == id.description {
            let isSwapped = formerKeyID.map { $0.description != team.description } == true
            throw CommandFailure(
                .usage,
                "\(team) is the key's id, not the team's: "
                    + (isSwapped
                        ? "the ids in the secret of --from are swapped; add --team-id \(formerKeyID?.description ?? "")"
                        : "write the id that Apple shows under Membership with --team-id"))
        }
        if let misfit = client?.kind.misfit(team: team, keyID: id) { throw CommandFailure(.usage, misfit.words) }
        return .added(NewConfigurationFile.AddedKey(team: team, keyID: inName == id ? nil : id, file: key))
    }
}
