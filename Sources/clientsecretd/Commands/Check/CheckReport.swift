import AppleClientSecret
import Daemon
import Model
import Rotation
import StatusAPI

/// The output of `check`: a line for each client.
struct CheckReport {
    var configuration: Configuration
    var secrets: [DryRun.Secret]
    var now: WallTime
    /// For each target the method and address of the request that a secret is sent with.
    var pushRequests: [TargetName: String] = [:]
    /// The state directory, if systemd will create it.
    var stateDirectoryMadeAtStart: AbsolutePath?

    var lines: [String] {
        let state = stateDirectoryMadeAtStart.map { "\($0): systemd would create it when the service starts" }
        return secrets.flatMap { secret in
            ["\(secret.client): \(decision(secret))"] + paths(of: secret).map { "  would write \($0)" }
                + targets(of: secret).map {
                    "  would push \(pushed(secret)) to target \($0)\(request($0))\(deployed($0, of: secret))"
                }
                + [source(of: secret), shared(secret)].compactMap { $0 }
        }
            + configuration.trustedDirectories.map {
                "\($0): trusted; whether other users can write to its directories or read its keys is not checked"
            }
            + [state].compactMap { $0 }
    }

    /// A report in JSON. Without clients it takes the place of one if the configuration is not judged, for these problems.
    ///
    /// - Parameter commands: the lines in the problems that fix something.
    static func json(
        problems: [String], commands: [String] = [], clients: [JSONText] = [], trustedDirectories: [AbsolutePath] = []
    ) -> String {
        JSONText.object([
            ("clients", .array(clients)), ("problems", .array(problems.map(JSONText.string))),
            ("commands", .array(commands.map(JSONText.string))),
            ("trusted_directories", .array(trustedDirectories.map { .string($0.description) })),
        ])
        .rendered
    }

    /// The same in JSON.
    ///
    /// - Parameters:
    ///   - problems: the diagnostics that are printed on standard error.
    ///   - commands: the lines in them that fix something.
    func json(problems: [String], commands: [String]) -> String {
        let members = secrets.map { secret in
            let (decision, reason): (String, String?) =
                switch secret.decision {
                case .wait: ("wait", nil)
                case .keep: ("keep", nil)
                case .receive: ("receive", nil)
                case .mint(let why): ("mint", why.words)
                case .verify: ("verify", nil)
                }
            var issued: SecretInfo?
            var due: WallTime?
            if case .keep(let current, let until) = secret.decision { (issued, due) = (current, until) }
            return JSONText.object(
                [
                    ("client", .string(secret.client.description)), ("decision", .string(decision)),
                    ("reason", .text(reason)),
                    ("fingerprint", .text(issued?.fingerprint.description)), ("expires_at", .moment(issued?.expiresAt)),
                    ("renew_at", .moment(due)),
                    ("outputs_to_write", .array(paths(of: secret).map { .string($0.description) })),
                ]
                    + (configuration.clients[secret.client]?.targets.isEmpty == false
                        ? [("targets_to_push", .array(targets(of: secret).map { .string($0.description) }))] : []))
        }
        return Self.json(
            problems: problems, commands: commands, clients: members,
            trustedDirectories: configuration.trustedDirectories)
    }

    /// A new secret is written to every output, one that is kept to those that do not hold it.
    private func paths(of secret: DryRun.Secret) -> [AbsolutePath] {
        switch secret.decision {
        case .mint: Set(configuration.clients[secret.client]?.outputs.map(\.path) ?? []).sorted()
        case .keep, .receive, .verify: secret.outputsToWrite
        case .wait: []
        }
    }

    private func targets(of secret: DryRun.Secret) -> [TargetName] {
        switch secret.decision {
        case .keep: secret.targetsToPush
        case .mint: (configuration.clients[secret.client]?.targets ?? []).map(\.target)
        case .wait, .receive, .verify: []
        }
    }

    /// The place from which a client without a private key receives its secret.
    private func source(of secret: DryRun.Secret) -> String? {
        guard let source = configuration.clients[secret.client]?.source else { return nil }
        let place = source.path.map(\.description) ?? "the store: \(configuration.store?.place ?? "")"
        return "  would receive newer ones from \(place)"
    }

    /// The place from which other machines receive secrets minted here; existing content is not fetched.
    private func shared(_ secret: DryRun.Secret) -> String? {
        guard let store = configuration.store, let entry = configuration.clients[secret.client], entry.source == nil,
            entry.isShared
        else { return nil }
        switch secret.decision {
        case .keep, .mint:
            return "  would put \(pushed(secret)) into the store, if it has another one: \(store.place)"
        case .wait, .receive, .verify: return nil
        }
    }

    private func pushed(_ secret: DryRun.Secret) -> String {
        if case .keep(let issued, _) = secret.decision { issued.fingerprint.description } else { "it" }
    }

    private func request(_ target: TargetName) -> String { pushRequests[target].map { " (\($0))" } ?? "" }

    private func deployed(_ target: TargetName, of secret: DryRun.Secret) -> String {
        guard let entry = configuration.clients[secret.client] else { return "" }
        if entry.undeployed.contains(target) {
            return ", where it takes effect at the next deployment; to start one, write \"redeploy: true\""
        }
        for case .redeploy(let project, let targets) in entry.onChange where targets.contains(target) {
            return ", and deploy \(project) again"
        }
        return ""
    }

    private func decision(_ secret: DryRun.Secret) -> String {
        switch secret.decision {
        case .wait:
            return "would do nothing until the problem is fixed"
        case .keep(let issued, let due):
            let renewal = due < now ? "renewal was due" : "renewal"
            return "would keep \(issued.fingerprint), which \(TimeWords.expiry(issued.expiresAt, to: now)); "
                + "\(renewal) \(TimeWords.full(due, to: now))"
        case .receive:
            return "would wait until its source holds a secret that can be received"
        case .mint(let reason):
            return "would mint a new secret, \(reason.words); \(span(of: secret.client))"
                + (configuration.clients[secret.client]?.verify == true ? ", after Apple is asked" : "")
        case .verify(let candidate):
            return
                "would ask Apple whether it accepts \(candidate.fingerprint), and keep the previous secret until then"
        }
    }

    private func span(of client: ClientName) -> String {
        guard let entry = configuration.clients[client] else { return "" }
        return "it would be valid for \(TimeWords.span(entry.lifetime.seconds)) and be renewed "
            + "\(TimeWords.span(entry.renewBefore)) before it expires"
    }
}
