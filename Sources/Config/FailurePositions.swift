internal import Failures
package import Model

/// Where failures that are met after the configuration was read are reported: at the line that names the key, output,
/// action, user or group; else at the affected client; else at the start of the configuration.
package struct FailurePositions {
    private let start: Position
    private let keys: [KeyName: KeySettings]
    private let clients: [ClientName: WrittenClient]
    // Several clients may name the same: it is reported at the first place.
    private let paths: [AbsolutePath: Position]
    private let targets: [TargetName: Position]
    private let actions: [ActionID: Position]
    private let credentials: [String: Position]
    private let users: [String: Position]
    private let groups: [String: Position]

    /// Goes once through the whole configuration.
    package init(in loaded: LoadedConfiguration) {
        let configuration = loaded.located
        let main = configuration.main
        start = configuration.start
        keys = Dictionary(uniqueKeysWithValues: configuration.keys.map { ($0.name.value, $0) })
        clients = Dictionary(uniqueKeysWithValues: configuration.clients.map { ($0.name.value, $0) })
        var paths = FirstPlaces<AbsolutePath>()
        var targets = FirstPlaces<TargetName>()
        var actions = FirstPlaces<ActionID>()
        var credentials = FirstPlaces<String>()
        var users = FirstPlaces<String>()
        var groups = FirstPlaces<String>()
        for location in configuration.keys.flatMap({ [$0.location, $0.passphrase] }) {
            switch location.value {
            case .file(let path): paths.note(path, at: location.position)
            case .credential(let name): credentials.note(name, at: location.position)
            case .publicKey, nil: break
            }
        }
        func note(_ list: Setting<[Located<Action>?]>) {
            for case let action? in list.value ?? [] {
                // One of on_state_change runs with each state's name in it.
                for named in [action.value] + action.value.forEachState { actions.note(named.id, at: action.position) }
                paths.note(ExecActionSettings.program(of: action.value), at: action.position)
            }
        }
        for client in configuration.clients {
            for target in client.settings.targets { targets.note(target.value, at: target.position) }
            for output in client.settings.files {
                paths.note(output.path.value, at: output.path.position)
                users.note(output.owner.value, at: output.owner.position)
                groups.note(output.group.value, at: output.group.position)
            }
            paths.note(client.source.value?.path, at: client.source.position)
            note(client.settings.onChange)
        }
        note(main.onStateChange)
        groups.note(main.controlGroup.value, at: main.controlGroup.position)
        paths.note(main.stateDirectory.value, at: main.stateDirectory.position)
        paths.note(main.metricsFile.value, at: main.metricsFile.position)
        self.paths = paths.positions
        self.targets = targets.positions
        self.actions = actions.positions
        self.credentials = credentials.positions
        self.users = users.positions
        self.groups = groups.positions
    }

    /// The failure as a line of `check` or `reload`.
    ///
    /// - Parameter client: the affected one; nil when it concerns several.
    package func diagnostic(
        _ failure: Failure, _ severity: Diagnostic.Severity = .error, client: ClientName? = nil
    ) -> Diagnostic {
        Diagnostic(severity, at: position(of: failure, client: client), failure.sentence)
    }

    /// The first `as:` with this user, else the start.
    package func position(ofUser user: String) -> Position {
        users[user] ?? start
    }

    /// The first place where the action is written, else the start.
    package func position(of action: ActionID) -> Position { actions[action] ?? start }

    func position(of failure: Failure, client: ClientName?) -> Position {
        let client = client.flatMap { clients[$0] }
        let named: Position? =
            switch failure.place {
            case .key(let name): position(of: failure.code, key: name)
            case .client(let name): clients[name]?.name.position
            case .path(let path): position(of: failure.code, output: path, client) ?? paths[path]
            case .target(let name): targets[name]
            case .action(let action): actions[action]
            case .credential(let name): credentials[name]
            case .named(let name) where failure.code == .unknownUser: users[name] ?? groups[name]
            case .named(let name): groups[name] ?? users[name]
            case .clock: nil
            }
        return named ?? client?.name.position ?? start
    }

    /// The value of `file:` or `credential:`, or of `passphrase_file:` or `passphrase_credential:`.
    private func position(of code: Failure.Code, key name: KeyName) -> Position? {
        guard let key = keys[name] else { return nil }
        let isOfPassphrase = code == .keyWrongPassphrase || code == .passphraseUnusable
        // A missing passphrase has no line, so the key's is used.
        return (isOfPassphrase ? key.passphrase.position : nil) ?? key.location.position
    }

    /// The value of the client's `path:`, or of the `group:` below it.
    private func position(of code: Failure.Code, output path: AbsolutePath, _ client: WrittenClient?) -> Position? {
        let isOfGroup = code == .unknownGroup || code == .groupNotPermitted
        let outputs = (client?.settings.files ?? []).filter { $0.path.value == path }
        return (isOfGroup ? outputs.lazy.compactMap(\.group.position).first : nil)
            ?? outputs.first?.path.position
    }
}

/// The first place where each value is written.
private struct FirstPlaces<Value: Hashable> {
    private(set) var positions: [Value: Position] = [:]

    mutating func note(_ value: Value?, at position: Position?) {
        guard let value, let position, positions[value] == nil else { return }
        positions[value] = position
    }
}
