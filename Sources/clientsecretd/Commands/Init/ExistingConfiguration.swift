import AppleClientSecret
import Config
import Daemon
import Failures
import Linux
import Model

/// The configuration to which `init --name` adds a client, by a new drop-in file.
struct ExistingConfiguration {
    private let loaded: LoadedConfiguration
    /// The drop-in file to write.
    let file: AbsolutePath

    /// Throws if the configuration is not accepted, or has that client.
    init(_ path: String, adding name: ClientName) throws(CommandFailure) {
        let source = ConfigurationSource.ofService(path)
        let loaded = try accepted(source.load())
        guard loaded.configuration.clients[name] == nil else {
            throw CommandFailure(
                .failed,
                "client \"\(name)\" already exists in \(Printable.name(path)) or its drop-in files; choose another --name"
            )
        }
        guard !name.description.hasPrefix(".") else {
            throw CommandFailure(.usage, "--name begins with a dot, and such files are not read; choose another --name")
        }
        guard let file = AbsolutePath(loaded.directory.description + "/\(name).yaml") else {
            throw CommandFailure(.usage, "--name is too long for a file in \(loaded.directory)")
        }
        guard FileStatus.following(file.description) == nil else {
            throw CommandFailure(.failed, "\(file) already exists and was not changed; choose another --name")
        }
        self.loaded = loaded
        self.file = file
    }

    /// The key that the new client shares, as far as the answers name one: its file, or its team and key id. Without either, the
    /// only key that there is. Throws if that file is another team's.
    func key(for answers: InitAnswers) throws(CommandFailure) -> KeyName? {
        let keys = loaded.configuration.keys
        if let path = answers.key {
            if let known = try key(in: path, of: answers.team) { return known }
            // A copy of the file: Apple gives no two keys one id.
            guard let id = answers.keyID ?? KeyID(fileName: path.name), let team = answers.team else { return nil }
            return keys.first { $0.value.keyID == id && $0.value.team == team }?.key
        }
        let id = answers.keyID ?? answers.formerKeyID
        let fitting = keys.filter { _, entry in
            (id == nil || entry.keyID == id) && (answers.team == nil || entry.team == answers.team)
        }
        return fitting.count == 1 && (id != nil || keys.count == 1) ? fitting.first?.key : nil
    }

    /// The key in a file; nil if there is none. Throws if it is of another team than the given one.
    private func key(in file: AbsolutePath, of team: TeamID?) throws(CommandFailure) -> KeyName? {
        let known = loaded.configuration.keys.filter { $0.value.location == .file(file) }.sorted { $0.key < $1.key }
        guard let (name, entry) = known.first(where: { team == nil || $0.value.team == team }) ?? known.first else {
            return nil
        }
        guard let team, entry.team != team else { return name }
        throw CommandFailure(
            .usage,
            "\(Printable.name(file.description)): the configuration has this key as \"\(name)\", of team \(entry.team); "
                + "name the key file of team \(team)")
    }

    /// Whether the keys with this file, or with the key id in its name, are other teams' than the one that is given.
    func isOfAnotherTeam(_ file: AbsolutePath, than team: TeamID?) -> Bool {
        let id = KeyID(fileName: file.name)
        let known = loaded.configuration.keys.values.filter { $0.location == .file(file) || $0.keyID == id }
        return team != nil && !known.isEmpty && known.allSatisfy { $0.team != team }
    }

    /// The file of a key; nil for one without.
    func file(of key: KeyName) -> AbsolutePath? {
        if case .file(let path)? = loaded.configuration.keys[key]?.location { path } else { nil }
    }

    /// Its settings of a key.
    func entry(of key: KeyName) -> KeyConfiguration? { loaded.configuration.keys[key] }

    /// The drop-in file with this text.
    func source(_ text: String) -> SourceFile {
        SourceFile(name: file.description, path: file, bytes: Array(text.utf8))
    }

    /// The client's file with a name for its key that no other key has.
    func naming(_ new: NewConfigurationFile) -> NewConfigurationFile {
        guard case .added(var key) = new.key else { return new }
        var new = new
        let taken = loaded.configuration.keys
        let names = ["apple", new.name.description] + (1...).lazy.prefix(taken.count).map { "apple-\($0)" }
        key.name = names.lazy.compactMap { KeyName($0) }.first { taken[$0] == nil }
        new.key = .added(key)
        return new
    }

    /// The main file with a section for a target; nil without one, and if it has this target and no client uses it. Throws if it
    /// has other targets, or if lines at its end would change a client, whose template may be the last thing in it. No existing
    /// line is changed.
    func mainFile(with target: TargetEntry?) throws(CommandFailure) -> RequiredLines? {
        guard let target else { return nil }
        let main = loaded.sources[0]
        guard !loaded.targets.contains(target.name) else {
            try checkIsFree(target)
            return nil
        }
        let file = RequiredLines(path: main.path.description, lines: "\n" + target.text)
        if let longer = main.adding(file),
            case .success(let parsed) = ConfigurationParser.parse(
                main: longer, additions: Array(loaded.sources.dropFirst())),
            parsed.configuration.clients == loaded.configuration.clients
        {
            return file
        }
        let pusher = PackageUnit.pusher(of: target.name)
        let others = target.credential == nil ? "" : ", the drop-in of \(pusher) with the token, and its socket"
        let section =
            loaded.targets.isEmpty
            ? "its end takes no more lines, or it has an empty \"targets\"; write there:\n\(target.text)"
            : "it already has \"targets\"; add there, below \"targets\":\n\(target.indented)"
        throw CommandFailure(
            .failed,
            "init cannot add a target to \(Printable.name(main.path.description)): \(section)"
                + "Then run this command again. It adds the client\(others)")
    }

    /// Throws if a target that is there has other settings, or takes the secret of another client.
    private func checkIsFree(_ target: TargetEntry) throws(CommandFailure) {
        let found =
            "target \"\(target.name)\" is already in \(Printable.name(loaded.sources[0].path.description))"
        let users = loaded.configuration.clients.filter { $0.value.targets.contains { $0.target == target.name } }
        if let user = users.keys.min() {
            throw CommandFailure(
                .failed, "\(found), and takes the secret of client \"\(user)\"; name another one with --target")
        }
        guard let given = Self.configuration(of: target), loaded.hasTarget(target.name, asIn: given) else {
            throw CommandFailure(
                .failed,
                "\(found), with other settings; name another one with --target, or give the settings that it has")
        }
    }

    /// A configuration with only this target, for its settings with all defaults; nil if it would be refused.
    private static func configuration(of target: TargetEntry) -> LoadedConfiguration? {
        let text =
            "keys: {k: {team_id: DEF123GHIJ, file: /keys/AuthKey_ABC123DEFG.p8}}\n" + target.text
            + "clients: {c: {client_id: com.example.c, outputs: [{push: \(YAMLText.scalar(target.name.description))}]}}\n"
        guard let path = AbsolutePath("/target.yaml") else { return nil }
        return try? ConfigurationParser.parse(
            main: SourceFile(name: path.description, path: path, bytes: Array(text.utf8))
        ).get()
    }

    /// The configuration with the drop-in file and the additions to the main file, which are not written yet.
    func parsed(with text: String, _ target: RequiredLines? = nil) -> Result<LoadedConfiguration, ConfigurationError> {
        let main = target.flatMap { loaded.sources[0].adding($0) } ?? loaded.sources[0]
        let additions = (loaded.sources.dropFirst() + [source(text)]).sorted { $0.path.name < $1.path.name }
        return ConfigurationParser.parse(main: main, additions: additions)
    }
}

extension SourceFile {
    /// It with the lines at its end; nil if it has them already.
    fileprivate func adding(_ file: RequiredLines) -> SourceFile? {
        file.text(after: String(decoding: bytes, as: UTF8.self)).map {
            SourceFile(name: name, path: path, bytes: Array($0.utf8))
        }
    }
}
