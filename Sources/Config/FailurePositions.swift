internal import Failures
package import Model

/// The positions at which later failures are reported. That is the line that names the key, output, action, user, group or served
/// unit. If there is none, it is the affected client, or else the start of the configuration.
package struct FailurePositions {
    private let start: Position
    private let keys: [KeyName: KeySettings]
    private let clients: [ClientName: WrittenClient]
    /// Several clients may name the same: it is reported at the first place.
    private var places: [Failure.Place: Position] = [:]

    /// Goes once through the whole configuration.
    package init(in loaded: LoadedConfiguration) {
        let configuration = loaded.located
        let main = configuration.main
        start = configuration.start
        keys = Dictionary(uniqueKeysWithValues: configuration.keys.map { ($0.name.value, $0) })
        clients = Dictionary(uniqueKeysWithValues: configuration.clients.map { ($0.name.value, $0) })
        note(.store, at: main.store.position)
        for location in configuration.keys.flatMap({ [$0.location, $0.passphrase] }) {
            switch location.value {
            case .file(let path): note(.path(path), at: location.position)
            case .credential(let name): note(.credential(name), at: location.position)
            case .publicKey, nil: break
            }
        }
        for client in configuration.clients {
            note(.client(client.name.value), at: client.name.position)
            for target in client.settings.targets { note(.target(target.value), at: target.position) }
            for output in client.settings.files {
                note(Failure.Place.path, output.path)
                note(Failure.Place.named, output.owner)
                note(Failure.Place.named, output.group)
            }
            if let path = client.source.value?.path { note(.path(path), at: client.source.position) }
            if let credential = client.settings.credential.located {
                note(.named(credential.value.unit), at: credential.position)
            }
            note(client.settings.onChange)
        }
        note(main.onStateChange)
        note(Failure.Place.named, main.controlGroup)
        note(Failure.Place.path, main.stateDirectory)
        note(Failure.Place.path, main.metricsFile)
    }

    private mutating func note(_ place: Failure.Place, at position: Position?) {
        if places[place] == nil { places[place] = position }
    }

    private mutating func note<Value>(_ place: (Value) -> Failure.Place, _ setting: Setting<Value>) {
        if let value = setting.value { note(place(value), at: setting.position) }
    }

    private mutating func note(_ list: Setting<[Located<Action>?]>) {
        for case let action? in list.value ?? [] {
            // One of on_state_change runs with each state's name in it.
            for named in [action.value] + action.value.forEachState { note(.action(named.id), at: action.position) }
            if let program = ExecActionSettings.program(of: action.value) { note(.path(program), at: action.position) }
        }
    }

    /// The failure as a line of `check` or `reload`.
    ///
    /// - Parameters:
    ///   - client: the affected one; nil when it concerns several.
    ///   - withRemedy: whether it has the remedy.
    package func diagnostic(
        _ failure: Failure, _ severity: Diagnostic.Severity = .error, client: ClientName? = nil,
        withRemedy: Bool = true
    ) -> Diagnostic {
        Diagnostic(
            severity, at: position(of: failure, client: client), failure.message,
            remedy: withRemedy ? failure.remedy : nil)
    }

    /// The first `as:` with this user, else the start.
    package func position(ofUser user: String) -> Position {
        places[.named(user)] ?? start
    }

    /// The key's name, else the start.
    package func position(ofKey name: KeyName) -> Position { keys[name]?.name.position ?? start }

    /// The first position of the action, else the start.
    package func position(of action: ActionID) -> Position { places[.action(action)] ?? start }

    func position(of failure: Failure, client: ClientName?) -> Position {
        let client = client.flatMap { clients[$0] }
        let named: Position? =
            switch failure.place {
            case .key(let name): position(of: failure.code, key: name)
            case .path(let path): position(of: failure.code, output: path, client) ?? places[failure.place]
            default: places[failure.place]
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

    /// The position of the client's `path:`, or of the `group:` below it.
    private func position(of code: Failure.Code, output path: AbsolutePath, _ client: WrittenClient?) -> Position? {
        let isOfGroup = code == .unknownGroup || code == .groupNotPermitted
        let outputs = (client?.settings.files ?? []).filter { $0.path.value == path }
        return (isOfGroup ? outputs.lazy.compactMap(\.group.position).first : nil)
            ?? outputs.first?.path.position
    }
}
