import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Glibc
import Linux
import Model
import Push

/// `push`: pushes one client secret to one place behind an API, or checks whether that holds it.
struct PushRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Push a client secret to a place behind an API.",
        discussion: """
            Reads {"do": "publish", "client_secret", "others", "written_at", "was_written"}, {"do": "read", \
            "client_secret", "written_at"} or {"do": "redeploy", "written_at", "deployment"}.

            Writes {"result": "published", "verified", "written_at"}, {"result": "read", "holds"}, {"result": \
            "redeployed", "ready", "deployment"} or {"result": "failed", "code", "detail", "retry_after", \
            "written_at"}, and "place_empty", "place_unusable" and "place_expires_at" for what the place holds \
            instead, and "used", "unused_detail" and "outdated_detail" for whether applications use it.

            The target is under "targets" in the configuration, and the token in the systemd credential or file that \
            it names. "others" has the secrets of targets with another field of the same place, by their names. \
            "written_at" is when the place was last written to, and "deployment" the one that was begun since: what an \
            API shows may be older than these. "was_written" says that an earlier request wrote to the place. "places" \
            identifies where targets lead in the daemon's configuration: a target that leads elsewhere gets nothing.

            Examples:
              clientsecretd-network push production <request.json
              systemctl enable --now clientsecretd-push@production.socket
            """)

    @Argument(help: "A name under \"targets\".")
    var target: String

    @OptionGroup var configuration: RoleConfigurationOption

    @Option(help: ArgumentHelp("The timeout of one request.", valueName: "milliseconds"))
    var timeout = NetworkTimeouts.request

    mutating func validate() throws {
        guard NetworkTimeouts.allowed.contains(timeout) else {
            throw ValidationError("a timeout must be 1 to \(NetworkTimeouts.allowed.upperBound) milliseconds")
        }
    }

    func run() throws {
        alarm(NetworkTimeouts.pushProcess)
        try RoleInput.takeConnection()
        let bytes = try RoleInput.read(limit: PushRoleRequest.longest)
        guard let request = PushRoleRequest(line: bytes) else {
            throw ValidationError("the request is not a JSON object with \"do\" and \"client_secret\"")
        }
        try RoleOutput.answer(result(of: request))
    }

    private func result(of request: PushRoleRequest) -> PushResult {
        let deadline = Deadline(in: NetworkTimeouts.push)
        do throws(RoleFailure) {
            let targets = try configuration.part(.pushUnconfigured) { path, adopted, identity in
                ConfigurationLoader.targets(path: path, adopted: adopted, as: identity, where: request.means)
            }
            let target = try named(target, among: targets, for: request)
            let token = try token(of: target)
            try checkAuthorities(of: target)
            var exchange = PushExchange(
                request, of: target, token: token, others: try others(of: request, beside: target, among: targets)
            ) { request in
                PushClient(caFile: target.caFile, timeout: min(timeout, Int(max(deadline.rest, 1)))).send(request)
            }
            return exchange.run()
        } catch {
            return .failed(error)
        }
    }

    private func named(
        _ name: String, among targets: [PushTarget], for request: PushRoleRequest
    ) throws(RoleFailure) -> PushTarget {
        guard let target = targets.first(where: { $0.name == name }) else {
            throw RoleFailure(
                .pushTargetUnknown,
                "there is no target \(Printable.name(name)) in \(Printable.name(configuration.path))")
        }
        // An edited text that the daemon refuses, or has not loaded, sends no secret elsewhere.
        guard request.places[name].map({ $0 == target.place }) ?? true else {
            throw RoleFailure(
                .pushTargetUnknown,
                "\(Printable.name(name)) leads elsewhere in \(Printable.name(configuration.path)) than in the configuration "
                    + "that the daemon uses")
        }
        return target
    }

    /// The secrets of other targets by their members' names, after the configuration was asked whether they belong into
    /// the same document.
    private func others(
        of request: PushRoleRequest, beside target: PushTarget, among targets: [PushTarget]
    ) throws(RoleFailure) -> [String: Token] {
        var members: [String: Token] = [:]
        for (name, secret) in request.others {
            let other = try named(name, among: targets, for: request).document
            guard let own = target.document, let other, other.place == own.place, let member = other.member,
                member != own.member
            else {
                throw RoleFailure(
                    .pushUnconfigured,
                    "targets \(Printable.name(name)) and \(Printable.name(target.name)) cannot share a secret")
            }
            members[member] = secret
        }
        return members
    }

    private func checkAuthorities(of target: PushTarget) throws(RoleFailure) {
        guard let path = target.caFile else { return }
        do throws(LoginFile.Unusable) {
            try CAFile.check(at: path, as: .current())
        } catch {
            throw RoleFailure(error.isUnguarded ? .pushFileNotGuarded : .pushFileUnusable, error.words)
        }
    }

    /// The token without white space around it; empty for a target without one.
    private func token(of target: PushTarget) throws(RoleFailure) -> String {
        let path: String
        switch target.token {
        case nil: return ""
        case .credential(let name):
            guard let handed = PassedCredentials.path(of: name) else {
                throw RoleFailure(
                    .pushTokenUnusable, "systemd passed no credentials, and so not \(name)")
            }
            path = handed
        case .file(let named): path = named
        }
        do throws(LoginFile.Unusable) {
            return try LoginFile.token(at: path, as: .current())
        } catch {
            throw RoleFailure(error.isUnguarded ? .pushFileNotGuarded : .pushTokenUnusable, error.words)
        }
    }
}
