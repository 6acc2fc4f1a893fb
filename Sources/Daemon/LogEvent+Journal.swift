import AppleClientSecret
import Rotation

extension LogEvent {
    /// The kind of event, for programs that read the journal.
    var messageID: MessageID {
        switch self {
        case .minted: .minted
        case .tookOver: .tookOver
        case .published: .published
        case .ran: .ran
        case .asked: .asked
        case .served: .served
        case .notServed: .notServed
        case .failing: .failing
        case .recovered: .recovered
        case .health: .health
        case .configured: .configured
        case .refused: .refused
        case .wouldNotStart: .wouldNotStart
        case .startedAsBefore: .startedAsBefore
        case .passes: .passes
        case .keyChanged: .keyChanged
        case .keyRestored: .keyRestored
        case .clockDistrusted: .clockDistrusted
        case .clockTrusted: .clockTrusted
        case .ready: .ready
        case .faultRaised: .faultRaised
        case .faultCleared: .faultCleared
        case .orphaned: .orphaned
        case .told: .told
        }
    }

    /// The event as fields of the journal: place, failure, clients and secrets. Clients come last, because thousands of
    /// them may not all fit (``Journal``).
    ///
    /// - Parameter clients: those that share the event's resource, where the event names none itself.
    func fields(of clients: [ClientName]) -> [JournalField] {
        switch self {
        case .minted(let client, let issued, _), .tookOver(let client, let issued):
            JournalField.secret(client, issued)
        case .published(let path, let secrets):
            [.path(path)] + JournalField.secrets(secrets)
        case .ran(let action, let secrets):
            [.action(action)] + JournalField.secrets(secrets)
        case .asked(let request, let requester):
            requester.fields + request.clients.map(JournalField.client)
        case .served(let credential, let client, let issued):
            JournalField.secret(client, issued) + [.unit(credential.unit)]
        case .notServed(let refusal):
            refusal.fields
        case .failing(let resource, let failure, _, _), .recovered(let resource, let failure):
            [.code(failure.code)] + resource.fields(of: clients)
        case .health(let client, let health, let reason):
            [.client(client), .state(health)] + (reason.map { [.code($0.failure.code)] } ?? [])
        case .keyChanged(_, let change), .keyRestored(_, let change):
            [.code(.keyChanged), .keyID(change.keyID)] + clients.map(JournalField.client)
        case .clockDistrusted(let failure):
            [.code(failure.code)]
        case .faultRaised(let failure), .faultCleared(let failure):
            failure.path.map { [.path($0), .code(failure.code)] } ?? [.code(failure.code)]
        case .orphaned(let orphan):
            [.path(orphan.place.path)]
        case .told(let action):
            [.action(action)]
        case .configured, .refused, .wouldNotStart, .startedAsBefore, .passes, .clockTrusted, .ready:
            []
        }
    }
}

extension Failure {
    fileprivate var path: AbsolutePath? {
        if case .path(let path) = place { path } else { nil }
    }
}

extension Requester {
    fileprivate var fields: [JournalField] {
        [JournalField(name: "CLIENTSECRETD_PEER_UID", value: String(user))]
            + (process.map { [JournalField(name: "CLIENTSECRETD_PEER_PID", value: String($0))] } ?? [])
            + (command.map { [JournalField(name: "CLIENTSECRETD_PEER_COMM", value: $0)] } ?? [])
    }
}

extension Request {
    /// The clients it names.
    fileprivate var clients: [ClientName] {
        switch self {
        case .renew(let renewal): renewal.clients.sorted()
        case .reload: []
        }
    }
}

extension CredentialRefusal {
    fileprivate var fields: [JournalField] {
        switch self {
        case .stranger, .noUnit: []
        case .notConfigured(let credential), .stopping(let credential): [.unit(credential.unit)]
        case .noSecret(let credential, let client): [.client(client), .unit(credential.unit)]
        }
    }
}

extension Resource {
    fileprivate func fields(of clients: [ClientName]) -> [JournalField] {
        switch self {
        case .client(let name), .record(let name): [.client(name)]
        case .file(let path): [.path(path)] + clients.map(JournalField.client)
        case .action(let action), .probe(let action): [.action(action)] + clients.map(JournalField.client)
        case .stateChangeAction(let action): [.action(action)]
        case .key, .configuration, .state: clients.map(JournalField.client)
        }
    }
}

/// A field of the journal; never rename one: people and programs search by them.
struct JournalField: Hashable, Sendable {
    let name: String
    let value: String

    static func client(_ client: ClientName) -> JournalField {
        JournalField(name: "CLIENTSECRETD_CLIENT", value: client.description)
    }

    static func path(_ path: AbsolutePath) -> JournalField {
        JournalField(name: "CLIENTSECRETD_PATH", value: path.description)
    }

    static func action(_ action: ActionID) -> JournalField {
        JournalField(name: "CLIENTSECRETD_ACTION", value: action.description)
    }

    /// The unit that a credential is for.
    static func unit(_ unit: String) -> JournalField {
        JournalField(name: "CLIENTSECRETD_UNIT", value: unit)
    }

    static func code(_ code: Failure.Code) -> JournalField {
        JournalField(name: "CLIENTSECRETD_CODE", value: code.rawValue)
    }

    static func state(_ health: HealthState) -> JournalField {
        JournalField(name: "CLIENTSECRETD_STATE", value: health.rawValue)
    }

    static func keyID(_ keyID: KeyID) -> JournalField {
        JournalField(name: "CLIENTSECRETD_KEY_ID", value: keyID.description)
    }

    static func secret(_ client: ClientName, _ issued: SecretInfo) -> [JournalField] {
        [
            .client(client), .keyID(issued.keyID),
            JournalField(name: "CLIENTSECRETD_FINGERPRINT", value: issued.fingerprint.description),
        ]
    }

    /// Several clients in one file or action: the fields of each, in the order of their names.
    static func secrets(_ secrets: [ClientName: SecretInfo]) -> [JournalField] {
        secrets.sorted { $0.key < $1.key }.flatMap { secret($0.key, $0.value) }
    }
}
