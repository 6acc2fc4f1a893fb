import AppleClientSecret
import Linux
import Rotation

/// How urgent a line of the log is, by the numbers of syslog(3).
enum Urgency: Int, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
}

extension LogEvent {
    var urgency: Urgency {
        switch self {
        case .minted, .tookOver, .published, .ran, .told, .served, .asked: .info
        case .failing: .error
        case .notServed, .orphaned: .warning
        case .recovered, .configured, .passes, .clockTrusted, .ready, .faultCleared: .notice
        case .health(_, let health, _): health == .ok ? .notice : health == .degraded ? .warning : .error
        case .keyRestored: .notice
        case .refused, .wouldNotStart, .startedAsBefore, .keyChanged, .clockDistrusted, .faultRaised: .error
        }
    }

    /// The log line.
    var words: String {
        switch self {
        case .minted(let client, let issued, let reason):
            "\(client): minted \(issued.fingerprint), valid until \(issued.expiresAt), \(reason.words)"
        case .tookOver(let client, let issued):
            "\(client): took over \(issued.fingerprint), valid until \(issued.expiresAt)"
        case .published(let path, let secrets):
            "wrote \(path): \(Self.list(secrets))"
        case .ran(let action, let secrets):
            "done: \(action): \(Self.list(secrets))"
        case .asked(let request, let requester):
            "\(requester.words) asked to \(request.words)"
        case .served(let credential, let client, let issued):
            "\(client): gave \(issued.fingerprint) to \(credential.unit) as credential \"\(credential.name)\""
        case .notServed(let refusal):
            refusal.words
        case .failing(let resource, let failure, let failures, let retryAt):
            resource.prefix + failure.sentence + (failures > 1 ? "; failed \(failures) times" : "")
                + (retryAt.map { "; next attempt \($0)" } ?? "")
        case .recovered(let resource, let failure):
            resource.prefix + "works again; it was: " + failure.message
        case .health(let client, let health, let reason):
            "\(client): \(health.rawValue)" + (reason.map { ": " + $0.failure.sentence } ?? "")
        case .configured(let clients):
            "configuration in force, \(clients) client\(clients == 1 ? "" : "s")"
        case .refused(let lines):
            "the configuration was not accepted, the old one stays in force:\n" + lines.joined(separator: "\n")
        case .wouldNotStart(let lines):
            "what lies there as the configuration now would not start, the old one stays in force:\n"
                + lines.joined(separator: "\n")
        case .startedAsBefore(let lines):
            "the configuration would not start, so the one that was last adopted is in force: no action runs, and nothing "
                + "is minted but what becomes critical; fix it and reload:\n" + lines.joined(separator: "\n")
        case .passes:
            "the configuration that lies there would start again"
        case .keyChanged(let key, let change):
            change.failure(of: key).sentence
        case .keyRestored(let key, let change):
            "key \"\(key)\": the old key is back behind \(change.keyID): \(change.from.fingerprint)"
        case .clockDistrusted(let failure):
            failure.sentence
        case .clockTrusted:
            "the clock is believed again"
        case .ready:
            "every client was tried once"
        case .faultRaised(let failure):
            failure.sentence
        case .faultCleared(let failure):
            "works again; it was: " + failure.message
        case .orphaned(let orphan):
            orphan.sentence
        case .told(let action):
            "done, because the state changed: \(action)"
        }
    }

    private static func list(_ secrets: [ClientName: SecretInfo]) -> String {
        secrets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.fingerprint)" }.joined(separator: ", ")
    }
}

extension Requester {
    /// As the kernel reports the peer. A process chooses its command's name itself.
    init(_ peer: Peer) {
        self.init(
            user: peer.user, process: peer.process > 0 ? peer.process : nil,
            command: peer.command.map { name in
                String(decoding: name.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            })
    }

    fileprivate var words: String {
        let known = [process.map { "process \($0)" }, command.map { "\"\($0)\"" }].compactMap { $0 }
        return "user \(user)" + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
    }
}

extension Request {
    /// The request, as the end of a sentence.
    fileprivate var words: String {
        switch self {
        case .reload: "reload the configuration"
        case .renew(let renewal):
            (renewal.deliverOnly ? "deliver again " : "renew ") + Self.list(renewal.clients)
                + (renewal.dueWithin.map { ", where due within \($0.count) s" } ?? "")
        }
    }

    private static func list(_ clients: Set<ClientName>) -> String {
        if clients.isEmpty { return "all clients" }
        let named = clients.sorted().prefix(namedClients).map(\.description).joined(separator: ", ")
        return named + (clients.count > namedClients ? " and \(clients.count - namedClients) more" : "")
    }

    /// How many a log line names; the journal's fields have all of them.
    private static var namedClients: Int { 12 }
}

extension CredentialRefusal {
    /// Who was refused, why, and what to do.
    var words: String {
        switch self {
        case .stranger(let user):
            "refused a credential to the user \(user), for only root's systemd is served; "
                + "let a unit of the system's manager load it"
        case .noUnit:
            "refused a credential to a program of root's that asks for no unit; "
                + "name the socket in the unit's LoadCredential="
        case .notConfigured(let credential):
            "refused \(credential.unit) the credential \"\(credential.name)\", for no client has it; write "
                + "\"credential: {unit: \(credential.unit), name: \(credential.name)}\" under its client"
        case .noSecret(let credential, let client):
            "\(client): refused \(credential.unit) the credential \"\(credential.name)\", for there is no secret "
                + "yet; see why: clientsecretd status"
        case .stopping(let credential):
            "refused \(credential.unit) the credential \"\(credential.name)\", for there is no secret yet and the "
                + "daemon stops; start the unit again"
        }
    }
}

extension MintReason {
    /// The reason, as the end of a sentence.
    package var words: String {
        switch self {
        case .missing: "because there was no usable secret"
        case .unusable(let issued): "because \(issued.fingerprint) does not fit the key, the ids or the time any more"
        case .due: "because the one before was due"
        case .together: "together with a client that shares a file or an action"
        case .asked: "because it was asked for"
        }
    }
}

extension Resource {
    /// The subject of a log line, where the failure's sentence does not name it.
    fileprivate var prefix: String {
        switch self {
        case .client(let name), .record(let name): "\(name): "
        case .key(let name): "key \(name): "
        case .stateChangeAction: "on_state_change: "
        case .configuration, .file, .action, .probe, .state: ""
        }
    }
}
