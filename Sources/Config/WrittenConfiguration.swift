import AppleClientSecret
import Linux
import Model
import Store

/// The configuration of all files together, each value with its position.
struct WrittenConfiguration {
    /// The start of the main file.
    let start: Position
    /// Settings that only the main file may have.
    let main: TopLevelSettings
    /// In the order of the files and of their contents, without later ones of the same name.
    let keys: [KeySettings]
    /// As the keys; completed by `defaults`.
    let clients: [WrittenClient]
    private let keysByName: [KeyName: KeySettings]

    /// - Parameter files: the main file's settings, then those of the files of the `.d` directory.
    init(start: Position, files: [TopLevelSettings], _ diagnostics: Diagnostics) {
        self.start = start
        main = files.first ?? TopLevelSettings()
        keys = diagnostics.withoutRepetitions(files.flatMap(\.keys), by: \.name) { key, _, first in
            "key \"\(key.name.value)\" is already defined at \(first); keep one"
        }
        keysByName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name.value, $0) })
        if !files.contains(where: \.mentionsKeys) {
            diagnostics.error(at: start, "no keys; write \"keys\" with the private key that Apple gave you")
        }
        let named = diagnostics.withoutRepetitions(files.flatMap(\.clients), by: \.name) { client, _, first in
            "client \"\(client.name.value)\" is already defined at \(first); keep one"
        }
        clients = main.defaults.map { defaults in named.map { $0.completed(by: defaults) } } ?? named
        if !files.contains(where: \.mentionsClients) {
            diagnostics.error(at: start, "no clients; write \"clients\" with a name and its \"client_id\"")
        }
    }

    /// Every list of actions.
    var actions: [Setting<[Located<Action>?]>] { clients.map(\.settings.onChange) + [main.onStateChange] }

    /// The values, once they are found to fit together; not to be used when `diagnostics` has errors afterwards.
    ///
    /// - Parameter places: other paths that no output may overwrite.
    func checked(against places: ConfigurationPaths, _ diagnostics: Diagnostics) -> Configuration {
        warnOfSharedClientIDs(diagnostics)
        let configuration = values(diagnostics)
        let outputs = ClientOutput.all(of: clients)
        OverwriteChecks(self, outputs: outputs, places: places, diagnostics).run()
        ClientOutput.check(outputs, diagnostics)
        CredentialSettings.check(clients, diagnostics)
        ActionKinds.check(actions, diagnostics)
        TargetSettings.check(main.targets, diagnostics)
        OutputSetting.check(clients, mentioned: main.targetNames, diagnostics)
        return configuration
    }

    /// Warns of clients with one client id: their outputs might belong to one client.
    private func warnOfSharedClientIDs(_ diagnostics: Diagnostics) {
        var ids: [ClientID: Located<ClientName>] = [:]
        for client in clients {
            guard case let id? = client.clientID, id.identifier != nil else { continue }
            if let first = ids[id] {
                let position = client.settings.clientID.position ?? client.name.position
                diagnostics.warning(
                    at: position,
                    "\(quoted(id.description)) is also the client id of \"\(first.value)\" "
                        + "(\(first.position.seen(from: position))); one client may have several outputs")
            } else {
                ids[id] = client.name
            }
        }
    }

    private func values(_ diagnostics: Diagnostics) -> Configuration {
        var keys: [KeyName: KeyConfiguration] = [:]
        for key in self.keys { keys[key.name.value] = key.configuration }
        var clients: [ClientName: ClientConfiguration] = [:]
        for client in self.clients {
            clients[client.name.value] = client.configuration(
                keys: self.keys(of: client, diagnostics), targets: main.targets, hasStore: !main.store.isAbsent,
                diagnostics)
        }
        return Configuration(
            keys: keys, clients: clients, onStateChange: main.onStateChange.value?.compactMap { $0?.value } ?? [],
            controlGroup: main.controlGroup.value, stateDirectory: main.stateDirectory.value,
            metricsFile: main.metricsFile.value,
            trustedDirectories: (main.trustedDirectories.value ?? []).compactMap { $0?.value },
            store: main.store.value.map { SecretStore(place: $0.place, machine: $0.machine ?? HostName.current) })
    }

    /// The keys that may sign for a client; nil when one of them is not known.
    private func keys(of client: WrittenClient, _ diagnostics: Diagnostics) -> [KeySettings]? {
        let names = keys.lazy.map(\.name.value.description)
        switch client.settings.keys {
        case .given(let list):
            var found: [KeySettings] = []
            for name in list.value {
                guard let key = key(name, diagnostics) else { return nil }
                if found.contains(where: { $0.name.value == key.name.value }) {
                    diagnostics.error(
                        at: name.position, "key \"\(name.value)\" is already in the list; remove one")
                    return nil
                }
                found.append(key)
            }
            return found
        case .wrong: return nil
        case .absent:
            guard keys.count < 2 else {
                diagnostics.error(
                    at: client.name.position,
                    "client \"\(client.name.value)\" does not name its key; write \"key:\" with "
                        + alternatives(names.prefix(10))
                        + ", or \"key: \(keys[0].name.value)\" under \"defaults:\" for every client that names none")
                return nil
            }
            return keys.first.map { [$0] }
        }
    }

    private func key(_ name: Located<KeyName>, _ diagnostics: Diagnostics) -> KeySettings? {
        if let key = keysByName[name.value] { return key }
        // If no key is valid, the one meant may have an invalid name, which was reported.
        guard !keys.isEmpty else { return nil }
        let names = keys.lazy.map(\.name.value.description)
        let advice =
            diagnostics.isFull
            ? ""
            : advice(for: name.value.description, among: names, otherwise: names.prefix(10))
        diagnostics.error(at: name.position, "there is no key\(apposition(name.value.description)); \(advice)")
        return nil
    }
}
