import AppleClientSecret
import Config
import Failures
import Linux
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
    /// As the kernel reports the peer. A process chooses its command's name itself.
    init(_ peer: Peer) {
        self.init(
            user: peer.user, process: peer.process > 0 ? peer.process : nil,
            command: peer.command.map { name in
                String(decoding: name.map { $0.isASCIIPrintable ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            })
    }

    var words: String {
        let known = [process.map { "process \($0)" }, command.map { "\"\($0)\"" }].compactMap { $0 }
        return "user \(user)" + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
    }

    var fields: [JournalField] {
        [JournalField(name: "CLIENTSECRETD_PEER_UID", value: String(user))]
            + (process.map { [JournalField(name: "CLIENTSECRETD_PEER_PID", value: String($0))] } ?? [])
            + (command.map { [JournalField(name: "CLIENTSECRETD_PEER_COMM", value: $0)] } ?? [])
    }
}

extension DaemonRequest {
    /// The request, as the end of a sentence.
    var words: String {
        switch self {
        case .reload: "reload the configuration"
        case .fleet: "show the fleet"
        case .rollout(let client, let order): "\(order.rawValue) the rollout of \(client)"
        case .renew(let renewal):
            (renewal.deliverOnly ? "deliver again " : "renew ") + Self.list(renewal.clients)
                + (renewal.skipVerify ? ", without asking Apple" : "")
                + (renewal.dueWithin.map { ", where due within \($0.count) s" } ?? "")
        }
    }

    private static func list(_ clients: Set<ClientName>) -> String {
        if clients.isEmpty { return "all clients" }
        return listed(clients.sorted().lazy.map(\.description), atMost: namedClients)
    }

    /// How many a log line names; the journal's fields have all of them.
    private static var namedClients: Int { 12 }

    /// The clients it names.
    var clients: [ClientName] {
        switch self {
        case .renew(let renewal): renewal.clients.sorted()
        case .rollout(let client, _): [client]
        case .reload, .fleet: []
        }
    }
}

extension CredentialProblem {
    /// The refused user, the reason, and the remedy.
    var sentence: String { "\(row.words); \(row.remedy)" }

    var fields: [JournalField] { row.fields }

    private var row: (words: String, remedy: Remedy, fields: [JournalField]) {
        switch self {
        case .notRoot(let user):
            (
                "refused a credential to the user \(user), because only root's systemd is served",
                .say("load it from a system unit"), []
            )
        case .noUnit:
            (
                "refused a credential to a program of root, because it asked for no unit",
                .say("name the socket in the unit's LoadCredential="), []
            )
        case .notConfigured(let credential):
            (
                "refused \(credential.unit) the credential \"\(credential.name)\", because no client has it",
                .say(
                    "write \"credential: {unit: \(credential.unit), name: \(credential.name)}\" under its client"),
                [.unit(credential.unit)]
            )
        case .noSecret(let credential, let client):
            (
                "\(client): refused \(credential.unit) the credential \"\(credential.name)\", because there is no secret "
                    + "yet", .say("see why", see: .status), [.client(client), .unit(credential.unit)]
            )
        case .stopping(let credential):
            (
                "refused \(credential.unit) the credential \"\(credential.name)\", because there is no secret yet and the "
                    + "daemon stops", .say("start the unit again"), [.unit(credential.unit)]
            )
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

    /// The subject of a log line, where the failure's sentence does not name it.
    var prefix: String {
        switch self {
        case .client, .verification, .record, .source, .share, .rollout: client.map { "\($0): " } ?? ""
        case .key(let name): "key \(name): "
        case .stateChangeAction: "on_state_change: "
        case .report: "this machine's report: "
        case .fleet: "the machines' reports: "
        case .store, .configuration, .file, .target, .action, .probe, .state, .metricsFile: ""
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
