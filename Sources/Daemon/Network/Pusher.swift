import AppleClientSecret
import Config
import Failures
import Linux
import Model
import Push

/// The daemon's client of the services that push secrets to APIs: a socket for each target.
struct Pusher: Sendable {
    private let status: String
    private let service: NetworkServiceClient
    /// The configuration's absolute path.
    private let configuration: String
    private let memory = PushMemory()
    /// The program that pushes if no service listens; nil to need a service.
    private let program: String?
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - status: the daemon's status socket; the directory of the services' is next to it.
    ///   - configuration: its absolute path, which the services have to read too.
    ///   - program: started with the rights of this process if no service listens, so that `run --once` needs no sockets; nil
    ///     to need a service.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every request when raised.
    ///   - timeout: in milliseconds.
    ///   - clock: milliseconds since the boot.
    init(
        besideSocket status: String, configuration: String, program: String? = nil, identity: Identity,
        cancel: EventCounter?, timeout: Int64 = ServiceTimeouts.push,
        clock: @escaping @Sendable () -> Int64 = Clocks.bootMilliseconds
    ) {
        self.clock = clock
        self.status = status
        self.configuration = configuration
        self.program = program
        service = NetworkServiceClient(
            missing: .pushServiceMissing, silent: .pushServiceSilent, identity: identity, cancel: cancel,
            timeout: timeout)
    }

    /// Remembers where a configuration's targets lead, and forgets the work done for targets and projects that it does not have.
    func keepOnly(_ configuration: Configuration) {
        let clients = configuration.clients.values
        let projects = clients.flatMap(\.onChange).compactMap { action -> String? in
            if case .redeploy(let project, _) = action { project } else { nil }
        }
        let places = clients.flatMap(\.targets).map { ($0.target, $0.place) }
        memory.keepOnly(Dictionary(places) { first, _ in first }, projects: Set(projects))
    }

    /// Adopts the earlier pushes from a client's record.
    func recall(_ outputs: some Sequence<PushOutput>) { memory.recall(outputs) }

    /// Pushes a secret, and with it those of other targets that belong into the same document. Blocks.
    func push(
        _ token: Token, to output: PushOutput, with others: [TargetName: Token] = [:]
    ) throws(Failure) -> Outcome {
        let target = output.target
        var named: [String: Token] = [:]
        for (target, token) in others { named[target.description] = token }
        let request = PushRoleRequest(
            .publish, secret: token, others: named, writtenAt: memory.lastWrite(to: output, with: others.keys),
            wasWritten: memory.hasWritten(to: output))
        let result = try ask(request, of: target, with: Array(others.keys))
        if let moment = result.writtenAt {
            memory.wrote(token.fingerprint, to: output, with: others.mapValues(\.fingerprint), at: moment)
        }
        guard case .published(let reading, _) = result else { throw failure(result, of: target) }
        return .pushed(reading)
    }

    /// Sees whether the target holds a secret. Blocks.
    func read(_ token: Token, of secret: SecretInfo, at target: TargetName) throws(Failure) -> Outcome {
        let request = PushRoleRequest(
            .read, secret: token, writtenAt: memory.lastWrite(of: [secret], to: [target]),
            isDeployed: memory.wasServing(target, at: now))
        let result = try ask(request, of: target)
        guard case .read(let reading) = result else { throw failure(result, of: target) }
        return .targetRead(reading)
    }

    /// Has a project deployed again, unless that is done or under way. Returns whether it runs with the secrets that were
    /// pushed to these targets. The first target begins the deployment, and the others get its id. Blocks.
    func redeploy(_ project: String, of targets: [TargetName], with secrets: [SecretInfo]) throws(Failure) -> Bool {
        let moment = memory.lastWrite(of: secrets, to: targets)
        var isReady = true
        for target in targets {
            let known = memory.deployment(of: project, since: moment)
            let result = try ask(.redeploy(writtenAt: moment, begun: known), of: target)
            guard case .redeployed(let isDone, let begun) = result else { throw failure(result, of: target) }
            memory.began(begun, of: project, since: moment)
            if isDone { memory.isServing(target, at: now) }
            isReady = isDone && isReady
        }
        return isReady
    }

    /// Why nothing could be pushed, as far as that is known without a request.
    func problem(with target: TargetName) -> Failure? { service.problem(at: socket(of: target), for: .target(target)) }

    private var now: BootTime { BootTime(milliseconds: clock()) }

    private func socket(of target: TargetName) -> NetworkServiceClient.Socket {
        NetworkServiceClient.Socket("push", of: target, besideSocket: status)
    }

    /// - Parameter others: the targets whose secrets go with it.
    private func ask(
        _ request: PushRoleRequest, of target: TargetName, with others: [TargetName] = []
    ) throws(Failure) -> PushResult {
        var request = request
        request.places = memory.places(of: [target] + others)
        return try service.ask(
            request.line, at: socket(of: target),
            orOf: program.map { [$0, "push", target.description, "--config", configuration] }, for: .target(target),
            otherwise: "its answer does not belong to a push", read: { try? PushResult(parsing: $0) })
    }

    /// Why a request did not have the result that belongs to it.
    private func failure(_ result: PushResult, of target: TargetName) -> Failure {
        guard case .failed(let failure, _) = result else {
            return service.answeredAnotherRequest(for: .target(target))
        }
        return Failure(
            failure, at: .target(target),
            remedy: failure.code == .pushTargetUnknown ? remedyForUnknownTarget : nil)
    }

    /// The remedy that has a service read the configuration with the target.
    private var remedyForUnknownTarget: Remedy {
        guard SystemManager.isSystemd else {
            return .say(
                "start it with --config \(Printable.name(configuration)), which the daemon reads, and reload the "
                    + "daemon")
        }
        // The service reads that file at each request, so the daemon's own is older.
        guard configuration != ConfigurationLoader.defaultPath else {
            return .say("reload the daemon, or add the target", run: .reload)
        }
        return .say(
            "reload the daemon, or pass its configuration to the service, in a drop-in of that unit: "
                + UnitFileLine.loadCredential("clientsecretd.yaml", from: configuration))
    }
}
