import AppleClientSecret
import Config
import Failures
import Model

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

    /// A place behind an API, by its name in the configuration.
    static func target(_ target: TargetName) -> JournalField {
        JournalField(name: "CLIENTSECRETD_TARGET", value: target.description)
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

    static func secret(_ client: ClientName, _ secret: SecretInfo) -> [JournalField] {
        [
            .client(client), .keyID(secret.keyID),
            JournalField(name: "CLIENTSECRETD_FINGERPRINT", value: secret.fingerprint.description),
        ]
    }

    /// Several clients in one file or action: the fields of each, in the order of their names.
    static func secrets(_ secrets: [ClientName: SecretInfo]) -> [JournalField] {
        secrets.sorted { $0.key < $1.key }.flatMap { secret($0.key, $0.value) }
    }
}

extension Requester {
    var fields: [JournalField] {
        [JournalField(name: "CLIENTSECRETD_PEER_UID", value: String(user))]
            + (process.map { [JournalField(name: "CLIENTSECRETD_PEER_PID", value: String($0))] } ?? [])
            + (command.map { [JournalField(name: "CLIENTSECRETD_PEER_COMM", value: $0)] } ?? [])
    }
}

extension DaemonRequest {
    /// The clients it names.
    var clients: [ClientName] {
        switch self {
        case .renew(let renewal): renewal.clients.sorted()
        case .rollout(let client, _): [client]
        case .reload, .fleet: []
        }
    }
}

extension Failure {
    /// Those of a fault of the daemon as a whole.
    var fields: [JournalField] {
        if case .path(let path) = place { [.path(path), .code(code)] } else { [.code(code)] }
    }
}

extension Diagnostic {
    /// The configuration's file, where its path is known.
    var fields: [JournalField] { AbsolutePath(position.file).map { [.path($0)] } ?? [] }
}

extension KeyChange {
    func fields(of clients: [ClientName]) -> [JournalField] {
        [.code(.keyChanged), .keyID(keyID)] + clients.map(JournalField.client)
    }
}

extension Resource {
    func fields(of clients: [ClientName]) -> [JournalField] {
        switch self {
        case .client, .verification, .record, .source, .share, .rollout: client.map { [.client($0)] } ?? []
        case .file(let path): [.path(path)] + clients.map(JournalField.client)
        case .target(let target): [.target(target)] + clients.map(JournalField.client)
        case .action(let action), .probe(let action): [.action(action)] + clients.map(JournalField.client)
        case .stateChangeAction(let action): [.action(action)]
        case .metricsFile(let path): [.path(path)]
        case .key, .store, .report, .fleet, .configuration, .state: clients.map(JournalField.client)
        }
    }
}

extension OrphanedOutput.Place {
    /// Names the file, or the target.
    var field: JournalField {
        switch self {
        case .file(let place): .path(place.path)
        case .target(let output): .target(output.target)
        }
    }
}
