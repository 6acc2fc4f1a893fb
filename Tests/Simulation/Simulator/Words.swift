import AppleClientSecret
import Rotation

/// What happens in a life, one short line for each event, so that somebody can follow it.
enum Words {
    static func of(_ fact: Fact) -> String {
        switch fact {
        case .configured(let configuration): "configured, \(configuration.clients.count) clients"
        case .configuredAsBefore(let configuration, _):
            "configured as before, \(configuration.clients.count) clients"
        case .stirred(let resource): "stirred \(of(resource))"
        case .finished(let id, let result): "\(id.number) \(of(result))"
        case .hampered(let trouble, _): "hampered: \(trouble.code)"
        case .relieved(let code): "relieved: \(code)"
        case .stateLost: "the state directory was lost"
        case .clockSet: "clock set"
        case .asked(let request, let ticket): "asked \(ticket?.number ?? 0) \(of(request))"
        case .stop: "stop"
        }
    }

    static func of(_ resource: Resource) -> String {
        switch resource {
        case .configuration: "configuration"
        case .key(let name): "key \(name)"
        case .client(let name): "client \(name)"
        case .record(let name): "record \(name)"
        case .file(let path): "file \(path)"
        case .action(let id): "action \(id)"
        case .probe(let id): "probe \(id)"
        case .notice(let id): "notice \(id)"
        case .state: "state"
        }
    }

    static func of(_ request: Request) -> String {
        guard case .renew(let renewal) = request else { return "reload" }
        let clients = renewal.clients.sorted().map(\.description).joined(separator: " ")
        return "\(renewal.deliverOnly ? "deliver" : "renew") \(clients)"
    }

    static func of(_ job: Job) -> String {
        let text =
            switch job.work {
            case .readConfiguration: "read configuration"
            case .checkConfiguration: "check configuration"
            case .tidyRecords: "tidy records"
            case .probe(let action): "probe \(action.id)"
            case .readKey(let name, _): "read \(name)"
            case .recall(let client): "recall \(client)"
            case .look(let spec): "look \(spec.path)"
            case .mint(let client, _, let claims): "mint \(client) until \(claims.expiresAt)"
            case .recallTold: "recall what was told"
            case .keepTold(let told): "keep that \(told.standing) was told"
            case .keep(let client, let record): "keep \(client) \(of(record.current))"
            case .publish(let spec, let secrets, _): "publish \(spec.path) \(of(secrets))"
            case .run(let action, let covering):
                "run \(action.id) for \(covering.keys.sorted().map(\.description).joined(separator: " "))"
            }
        return "-> \(job.id.number) \(text)"
    }

    private static func of(_ result: Result<Outcome, Trouble>) -> String {
        switch result {
        case .failure(let trouble): "failed: \(trouble.code)"
        case .success(.minted(let issued)): "minted \(of(issued))"
        case .success(.recalled(let record)): "recalled \(of(record.current))"
        case .success(.kept): "kept"
        case .success(.seen(let look)), .success(.published(let look)):
            "seen \(look.exists ? of(look.slots.compactMapValues(\.secret)) : "nothing")"
        case .success(.key(let print)): "key \(print.description.suffix(1))"
        case .success(.refused): "refused"
        case .success(.configuration), .success(.passes), .success(.tidied), .success(.ran), .success(.feasible),
            .success(.recalledTold), .success(.keptTold):
            "done"
        }
    }

    private static func of(_ secrets: [Slot: Issued]) -> String {
        "[" + secrets.map { "\($0): \(of($1))" }.sorted().joined(separator: ", ") + "]"
    }

    /// The secret's last digits and its end.
    private static func of(_ issued: Issued?) -> String {
        guard let issued else { return "none" }
        return "\(issued.fingerprint.description.suffix(4)) until \(issued.expiresAt)"
    }

    static func of(_ entry: Entry) -> String? {
        switch entry {
        case .standing(let client, let standing, let reason):
            "   \(client) is \(standing)\(reason.map { ": \($0.trouble.code)" } ?? "")"
        case .clockDistrusted(let trouble): "   distrusts the clock: \(trouble.code)"
        case .clockTrusted: "   trusts the clock"
        case .tookOver(let client, let issued): "   \(client) takes \(of(issued))"
        case .recovered(let resource, let trouble): "   \(of(resource)) has recovered from \(trouble.code)"
        default: nil
        }
    }
}
