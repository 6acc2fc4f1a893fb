import Actions
import AppleClientSecret
import Config
import Failures
import Formats
import Keys
import Linux
import Model
import Outputs
import Rotation
import State
import SystemPackage
import UserWriter

/// Runs jobs on worker threads: everything that blocks, touches a disk or sees a secret.
final class Executor: Sendable {
    let secretCache: SecretCache
    let keyring = KeyCache()
    let publisher: Publisher
    let services: ServiceClients
    let naming: TemporaryNames
    let reservedPaths = ReservedPaths()
    /// Nil if nothing is written, as in a dry run.
    let sweptDirectories: SweptDirectories?
    /// While the state directory cannot be used nothing is kept, and every attempt fails with the reason.
    let state: StateAccess
    let identity: Identity
    let settings: ConfigurationSource
    /// Nil if nothing is run, as in a dry run.
    private let runner: ActionRunner?
    /// Why a unit could not load its secret from the daemon; nil if it could, or loads none.
    private let problemWithCredential: @Sendable (_ unit: String) -> Failure?
    let log: Log
    /// Called with every configuration that was read and accepted after the start's.
    let onAdoption: @Sendable (LoadedConfiguration) -> Void
    /// Receives which links lead to a file, and where it really is.
    let findings: Inbox<Watcher.Finding>?
    let pool: WorkerPool<Lane>
    let mounts: QuietMutex<MountTable?>
    /// The credentials that hold targets' tokens.
    let tokens = QuietMutex<[TargetName: String]>([:])
    let textToKeep = LastValueWriter<LoadedConfiguration>()
    let clockToKeep = LastValueWriter<ClockRun>()

    /// Jobs wait for disks, so threads, not cores, limit the throughput. Twice as many as a lane's maximum, because
    /// secrets are published while others are kept in the state directory.
    private static let threads = 2 * threadsPerLane
    private static let threadsPerLane = 8

    init(
        settings: ConfigurationSource, naming: TemporaryNames, state: StateAccess, services: ServiceClients,
        secretCache: SecretCache = SecretCache(), log: Log, runner: ActionRunner? = nil,
        problemWithCredential: @escaping @Sendable (_ unit: String) -> Failure? = { _ in nil },
        findings: Inbox<Watcher.Finding>? = nil,
        onAdoption: @escaping @Sendable (LoadedConfiguration) -> Void = { _ in }
    ) {
        self.settings = settings
        identity = settings.identity
        self.naming = naming
        self.state = state
        self.services = services
        self.secretCache = secretCache
        self.log = log
        self.runner = runner
        self.problemWithCredential = problemWithCredential
        self.findings = findings
        self.onAdoption = onAdoption
        publisher = Publisher(as: identity, naming: naming, reservedPaths: reservedPaths)
        sweptDirectories =
            runner == nil ? nil : SweptDirectories(naming: naming, as: identity, reservedPaths: reservedPaths)
        pool = WorkerPool(limit: Self.threads, perLane: Self.threadsPerLane)
        mounts = QuietMutex(nil)
        takeMounts()
    }

    /// Starts jobs; `report` is called once for each with its result, usually on a worker's thread.
    func start(_ jobs: [Job], report: @escaping @Sendable (Input) -> Void) {
        for job in jobs {
            do {
                try pool.run(in: lane(of: job)) { [self] in
                    report(.finished(job.id, Result { () throws(Failure) in try carryOut(job) }))
                }
            } catch {
                let failure = Failure.notStarted(at: .named("worker thread"), cause: error.number)
                report(.finished(job.id, .failure(failure)))
            }
        }
    }

    /// Calls `body` with each element on a thread of its lane, as for jobs; returns the results. Blocks until all are done.
    func map<Element: Sendable, Value: Sendable>(
        _ elements: [Element], in lane: (Element) -> Lane, _ body: @escaping @Sendable (Element) -> Value
    ) -> [Value] {
        // Without descriptors or threads the caller's own thread does it.
        guard let done = try? Inbox<(index: Int, value: Value)>() else { return elements.map(body) }
        var values: [Value?] = Array(repeating: nil, count: elements.count)
        var missing = elements.count
        for (index, element) in elements.enumerated() {
            let work: @Sendable () -> Void = { done.post((index, body(element))) }
            do { try pool.run(in: lane(element), work) } catch { work() }
        }
        while missing > 0 {
            _ = done.wait(atMost: 60_000)
            for (index, value) in done.drain() {
                values[index] = value
                missing -= 1
            }
        }
        return values.compactMap(\.self)
    }

    /// Reads the mount table again, on a worker.
    func readMounts() {
        try? pool.run(in: .settings) { [self] in takeMounts() }
    }

    /// Read outside the lock: the loop takes it, and must never wait.
    func takeMounts() {
        let table = MountTable.ofThisProcess()
        mounts.withLock { $0 = table }
        reservedPaths.set(mounts: table)
    }

    /// Checks on a worker whether the state directory is still in place.
    func checkState() {
        // Without a thread, the next job that uses it checks.
        try? pool.run(in: .state) { [state] in state.checkInPlace() }
    }

    /// Runs a job. Blocks.
    func carryOut(_ job: Job) throws(Failure) -> Outcome {
        do throws(Failure) { return try carryOutPlainly(job) } catch {
            let failure = OwnSandbox.explained(error, of: job.work, as: identity)
            let writer: String? =
                switch job.work {
                case .observe(let spec), .publish(let spec, _, _, _): spec.owner
                default: nil
                }
            throw UnitInEffect.explained(failure, writer: writer) { target in tokens.withLock { $0[target] } }
        }
    }

    private func carryOutPlainly(_ job: Job) throws(Failure) -> Outcome {
        switch job.work {
        case .readConfiguration: readConfiguration()
        case .checkConfiguration: checkConfiguration()
        case .readKey(let name, let entry): try readKey(name, entry)
        case .recall(let client, let places): try recall(client, publishedAt: places)
        case .readSource(let client, let file): try readSource(file, of: client)
        case .readStore(let places): try services.store.read(places, issued: recognise)
        case .putInStore(_, let issued, let place, let revision):
            .putInStore(
                try services.store.put(try secret(issued).token, at: place, ifAt: revision, issued: recognise))
        case .putRollout(_, let rollout, let place, let revision, let put):
            .rolloutPut(
                try services.store.put(
                    rollout, at: place, ifAt: revision, with: try token(of: put), issued: recognise))
        case .putReport(let report, let machine, let revision):
            .reportPut(
                try services.store.put(
                    MachineReportValue(instance: try instance(), report: report), of: machine,
                    ifAt: revision))
        case .readReports(let clients): .reportsRead(try services.store.readReports(of: clients))
        case .forgetReport(let machine, let revision):
            try services.store.forgetReport(of: machine, ifAt: revision)
        case .observe(let spec): .observed(try observe(spec))
        case .mint(_, let key, let claims): try mint(key, claims)
        case .keep(let client, let record): try keep(record, of: client)
        case .verify(let client, let issued): try verify(issued, of: client)
        case .publish(let spec, let secrets, let mayCreate, let overWriters):
            try publish(secrets, in: spec, mayCreate: mayCreate, overWriters: overWriters)
        case .push(_, let issued, let output, let others): try push(issued, to: output, with: others)
        case .readTarget(_, let issued, let output):
            try services.pusher.read(try secret(issued).token, of: issued, at: output.target)
        case .run(let action, let covering): try run(action, covering)
        case .probe(let action): try probe(action)
        case .recallReportedStates: try recallReportedStates()
        case .keepReportedStates(let states): try keep(states)
        case .tidyRecords(let clients, let moment, let removed, let outputs): tidy(clients, moment, removed, outputs)
        case .writeMetrics(let path, let content): try write(content, toMetricsFile: path)
        case .removeMetrics(let path): try removeMetricsFile(path)
        }
    }

    private func token(of put: SecretPut?) throws(Failure) -> (token: Token, revision: Int64)? {
        guard let put else { return nil }
        return (try secret(put.secret).token, put.revision)
    }

    private func mint(_ name: KeyName, _ claims: Claims) throws(Failure) -> Outcome {
        guard let key = keyring.signingKey(name) else { throw Failure(.keyMissing, at: .key(name)) }
        let minted = try key.mint(claims)
        secretCache.put(minted)
        return .minted(minted.issued)
    }

    private func verify(_ issued: SecretInfo, of client: ClientName) throws(Failure) -> Outcome {
        try services.verifier.verify(try secret(issued), of: client)
        return .accepted
    }

    private func push(
        _ issued: SecretInfo, to output: PushOutput, with others: [TargetName: SecretInfo]
    ) throws(Failure) -> Outcome {
        var tokens: [TargetName: Token] = [:]
        for (target, issued) in others { tokens[target] = try secret(issued).token }
        return try services.pusher.push(try secret(issued).token, to: output, with: tokens)
    }

    private func run(_ action: Action, _ covering: [ClientName: CoveredClient]) throws(Failure) -> Outcome {
        if case .redeploy(let project, let targets) = action {
            let isReady = try services.pusher.redeploy(project, of: targets, with: covering.values.map(\.issued))
            return isReady ? .ran : .deploying
        }
        if let failure = problem(startingUnitOf: action) { throw failure }
        // A dry run starts no job that needs it.
        guard let runner else { throw Failure(.systemError, at: .action(action.id), detail: "nothing is run here") }
        try runner.run(action, covering)
        return .ran
    }

    private func probe(_ action: Action) throws(Failure) -> Outcome {
        if let problem = problem(startingUnitOf: action) ?? runner?.problem(with: action) { throw problem }
        return .feasible
    }

    /// Why an action would only stop its unit, which could not load its secret and start again. A reload keeps what runs.
    private func problem(startingUnitOf action: Action) -> Failure? {
        guard case .unit(let verb, let unit) = action, verb != .reload, let found = problemWithCredential(unit) else {
            return nil
        }
        return Failure(
            found.code, at: .action(action.id), cause: found.cause, detail: "\(found.place)", remedy: found.remedy)
    }

    /// A secret's bytes, which are in the cache unless something is wrong with this program; then the next observation
    /// finds or mints another secret.
    func secret(_ issued: SecretInfo) throws(Failure) -> Secret {
        guard let secret = secretCache.secret(issued.fingerprint) else {
            throw Failure(
                .systemError, at: .named(issued.fingerprint.description), detail: "its bytes are no longer known")
        }
        return secret
    }
}
