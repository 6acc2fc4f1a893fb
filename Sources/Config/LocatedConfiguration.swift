import AppleClientSecret
import Rotation

/// Merges the drafts of all files into one configuration and checks that they fit together.
struct Assembler {
    private(set) var positions: Positions
    private let drafts: [FileDraft]
    private let complaints: Diagnostics
    private var keys: [KeyName: KeyDraft] = [:]
    private var keyOrder: [KeyName] = []
    private var clients: [ClientDraft] = []

    /// - Parameter drafts: the main file's, then those of the `.d` directory.
    init(start: Position, drafts: [FileDraft], complaints: Diagnostics) {
        positions = Positions(start: start)
        self.drafts = drafts
        self.complaints = complaints
    }

    /// The configuration; not to be used when `complaints` has errors afterwards.
    mutating func assemble(guarding places: GuardedPlaces) -> Configuration {
        let main = drafts.first ?? FileDraft()
        collectKeys()
        collectClients(defaults: main.defaults)
        positions.note(main)
        let entries = clients.map { ($0.name.value, entry(of: $0)) }
        OutputChecks(
            places: places, keys: keyOrder.compactMap { keys[$0] }, clients: clients, main: main, complaints: complaints
        ).run()
        ActionChecks(clients: clients, onStateChange: main.onStateChange, complaints: complaints).run()
        return Configuration(
            keys: keys.compactMapValues(entry),
            clients: Dictionary(entries.compactMap { pair in pair.1.map { (pair.0, $0) } }) { first, _ in first },
            onStateChange: main.onStateChange.value?.compactMap { $0?.value } ?? [],
            controlGroup: main.controlGroup.value, stateDirectory: main.stateDirectory.value,
            metricsFile: main.metricsFile.value,
            trustedDirectories: (main.trustedDirectories.value ?? []).compactMap { $0?.value })
    }

    private mutating func collectKeys() {
        for key in drafts.flatMap(\.keys) {
            let name = key.name
            if let first = keys[name.value] {
                complaints.error(
                    at: name.position,
                    "key \"\(name.value)\" is defined at \(first.name.position.seen(from: name.position)) already; keep one"
                )
                continue
            }
            keys[name.value] = key
            keyOrder.append(name.value)
            positions.note(key)
        }
        if !drafts.contains(where: \.mentionsKeys) {
            complaints.error(at: positions.start, "no keys; write \"keys\" with the private key that Apple gave you")
        }
    }

    private mutating func collectClients(defaults: ClientSettings) {
        var places: [ClientName: Position] = [:]
        for var client in drafts.flatMap(\.clients) {
            let name = client.name
            if let first = places[name.value] {
                complaints.error(
                    at: name.position,
                    "client \"\(name.value)\" is defined at \(first.seen(from: name.position)) already; keep one")
                continue
            }
            places[name.value] = name.position
            client.settings = client.settings.completed(by: defaults)
            clients.append(client)
            positions.note(client)
        }
        if !drafts.contains(where: \.mentionsClients) {
            complaints.error(at: positions.start, "no clients; write \"clients\" with a name and its \"client_id\"")
        }
        var ids: [ClientID: Placed<ClientName>] = [:]
        for client in clients {
            guard case let id? = client.clientID else { continue }
            if let first = ids[id] {
                let position = client.settings.clientID.placed?.position ?? client.name.position
                complaints.warning(
                    at: position,
                    "\(quoted(id.description)) is the client id of \"\(first.value)\" too "
                        + "(\(first.position.seen(from: position))); one client may have several outputs")
            } else {
                ids[id] = client.name
            }
        }
    }

    private func entry(of key: KeyDraft) -> KeyConfiguration? {
        guard let team = key.team.value, let keyID = key.keyID.value, let location = key.location.value else {
            return nil
        }
        return KeyConfiguration(team: team, keyID: keyID, location: location, passphrase: key.passphrase.value)
    }

    private func entry(of client: ClientDraft) -> ClientConfiguration? {
        let settings = client.settings
        let key = key(of: client)
        let times = times(of: client)
        if settings.outputs.isUnset && settings.credential.isAbsent {
            complaints.error(
                at: client.name.position,
                "client \"\(client.name.value)\" writes its secret nowhere; write \"outputs\" with a \"path\"")
        }
        guard let key, let times, let clientID = client.clientID else { return nil }
        let outputs = (settings.outputs.value ?? []).compactMap { draft -> Output? in
            guard let draft, let path = draft.path.value, let format = draft.format.value else { return nil }
            return Output(
                path: path, format: format, slot: draft.slot, mode: draft.mode.value, group: draft.group.value,
                owner: draft.owner.value)
        }
        return ClientConfiguration(
            clientID: clientID, key: key, lifetime: times.lifetime, renewBefore: times.renewBefore, outputs: outputs,
            onChange: (settings.onChange.value ?? []).compactMap { $0?.value }, verify: settings.verify.value ?? false,
            credential: settings.credential.value)
    }

    private func key(of client: ClientDraft) -> KeyName? {
        switch client.settings.key {
        case .given(let name):
            if keys[name.value] != nil { return name.value }
            // If no key is valid, the one meant may have an invalid name, which was reported.
            guard !keyOrder.isEmpty else { return nil }
            let known = keyOrder.map(\.description)
            let advice =
                complaints.isFull
                ? ""
                : nearest(to: name.value.description, among: known).map { "did you mean \"\($0)\"?" }
                    ?? "write \(alternatives(known.prefix(10)))"
            complaints.error(at: name.position, "there is no key\(apposition(name.value.description)); \(advice)")
            return nil
        case .wrong: return nil
        case .absent:
            if let first = keyOrder.first, keyOrder.count > 1 {
                complaints.error(
                    at: client.name.position,
                    "client \"\(client.name.value)\" does not say which key signs for it; write \"key:\" with "
                        + alternatives(keyOrder.prefix(10).map(\.description))
                        + ", or \"key: \(first)\" under \"defaults:\" for every client that does not say")
                return nil
            }
            return keyOrder.first
        }
    }

    private func times(of client: ClientDraft) -> (lifetime: Lifetime, renewBefore: Seconds)? {
        let settings = client.settings
        if case .wrong = settings.lifetime { return nil }
        if case .wrong = settings.renewBefore { return nil }
        guard let lifetime = settings.lifetime.value ?? Lifetime(seconds: ClientConfiguration.defaultLifetime) else {
            return nil
        }
        let renewBefore = settings.renewBefore.value ?? lifetime.seconds / 3
        // Where renew_before is written, else the lifetime: under the client or under "defaults".
        let position =
            settings.renewBefore.placed?.position ?? settings.lifetime.placed?.position ?? client.name.position
        guard renewBefore < lifetime.seconds else {
            complaints.error(
                at: position,
                "renew_before \(Span.text(renewBefore)) is not shorter than the lifetime \(Span.text(lifetime.seconds)) of "
                    + "client \"\(client.name.value)\"; write less, such as \(Span.text(lifetime.seconds / 3))")
            return nil
        }
        // Scheduled renewals are at least a minute apart; by then a third of renew_before must be left, or the client
        // becomes critical before every renewal.
        if lifetime.seconds - 60 < renewBefore / 3 {
            complaints.warning(
                at: settings.lifetime.placed?.position ?? position,
                "a lifetime of \(Span.text(lifetime.seconds)) is too short: renewals are at least 60s apart, and by "
                    + "the next one the secret has nearly expired; write 2m or more")
        }
        return (lifetime, renewBefore)
    }
}

extension ClientDraft {
    /// The configured id, else the name; nil when that is invalid.
    var clientID: ClientID? {
        if case .wrong = settings.clientID { return nil }
        return settings.clientID.value ?? ClientID(name.value.description)
    }
}

extension Setting<[OutputDraft?]> {
    /// Whether it is absent or an empty list.
    fileprivate var isUnset: Bool {
        isAbsent || placed?.value.isEmpty ?? false
    }
}
