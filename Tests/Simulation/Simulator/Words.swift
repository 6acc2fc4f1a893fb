import AppleClientSecret
import Failures
import Model
import Rotation

/// The events of a life, one short line each, so that somebody can follow them.
enum Words {
    static func of(_ input: Input) -> String {
        switch input {
        case .configured(let configuration): "configured, \(configuration.clients.count) clients"
        case .configuredAsBefore(let configuration, _):
            "configured as before, \(configuration.clients.count) clients"
        case .finished(let id, let result): "\(id.number) \(of(result))"
        case .asked(let request, let requestID): "asked \(requestID?.number ?? 0) \(of(request))"
        default: "\(input)"
        }
    }

    static func of(_ request: DaemonRequest) -> String {
        if case .rollout(let client, let order) = request { return "\(order) the rollout of \(client)" }
        guard case .renew(let renewal) = request else { return "reload" }
        let clients = renewal.clients.sorted().map(\.description).joined(separator: " ")
        return "\(renewal.deliverOnly ? "deliver" : "renew") \(clients)"
    }

    static func of(_ job: Job) -> String {
        let text =
            switch job.work {
            case .readConfiguration, .checkConfiguration, .recallReportedStates, .tidyRecords, .writeMetrics,
                .removeMetrics:
                "\(Fault.Kind(job.work))"
            case .probe(let action): "probe \(action.id)"
            case .readKey(let name, _): "read \(name)"
            case .recall(let client, _): "recall \(client)"
            case .observe(let spec): "observe \(spec.path)"
            case .readSource(let client, _): "read the source of \(client)"
            case .readStore(let places): "read \(places.count) places of the store"
            case .putInStore(let client, let secret, _, let revision):
                "put \(client) \(of(secret)) into the store at \(revision)"
            case .putReport(let report, let machine, let revision):
                "report \(report.clients.count) clients as \(machine) at \(revision)"
            case .putRollout(let client, let rollout, _, _, let secret):
                "\(rollout.state): admit \(rollout.admitted) to \(client)'s \(rollout.secret.fingerprint.description.suffix(4))"
                    + (secret == nil ? "" : " and share it")
            case .readReports: "read the reports"
            case .forgetReport(let machine, _): "forget \(machine)"
            case .mint(let client, _, let claims): "mint \(client) until \(claims.expiresAt)"
            case .keepReportedStates(let states): "keep that \(states.health) was reported"
            case .keep(let client, let record): "keep \(client) \(of(record.current))"
            case .verify(let client, let secret): "verify \(client) \(of(secret))"
            case .publish(let spec, let secrets, _, _): "publish \(spec.path) \(of(secrets))"
            case .push(let client, let secret, let output, _): "push \(client) \(of(secret)) to \(output.target)"
            case .readTarget(_, let secret, let output): "ask \(output.target) for \(of(secret))"
            case .run(let action, let covering):
                "run \(action.id) for \(covering.keys.sorted().map(\.description).joined(separator: " "))"
            }
        return "-> \(job.id.number) \(text)"
    }

    private static func of(_ result: Result<Outcome, Failure>) -> String {
        switch result {
        case .failure(let failure): "failed: \(failure.code)"
        case .success(.minted(let issued)): "minted \(of(issued))"
        case .success(.recalled(let record)): "recalled \(of(record.current))"
        case .success(.kept): "kept"
        case .success(.accepted): "accepted"
        case .success(.observed(let observation)), .success(.published(let observation)):
            "seen \(observation.exists ? of(observation.slots.compactMapValues(\.secret)) : "nothing")"
        case .success(.key(let print)): "key \(print.description.suffix(1))"
        case .success(.refused): "refused"
        case .success: "done"
        }
    }

    private static func of(_ secrets: [FileSlot: SecretInfo]) -> String {
        "[" + secrets.map { "\($0): \(of($1))" }.sorted().joined(separator: ", ") + "]"
    }

    /// The last digits of the secret's fingerprint, and its expiry.
    private static func of(_ issued: SecretInfo?) -> String {
        guard let issued else { return "none" }
        return "\(issued.fingerprint.description.suffix(4)) until \(issued.expiresAt)"
    }

    static func of(_ entry: LogEvent) -> String? {
        switch entry {
        case .health(let client, let health, let reason):
            "   \(client) is \(health)\(reason.map { ": \($0.failure.code)" } ?? "")"
        case .clockDistrusted(let failure): "   distrusts the clock: \(failure.code)"
        case .clockTrusted: "   trusts the clock"
        case .tookOver(let client, let issued): "   \(client) takes \(of(issued))"
        case .recovered(let resource, let failure): "   \(resource) has recovered from \(failure.code)"
        default: nil
        }
    }
}
