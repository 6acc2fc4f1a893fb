import Actions
import AppleClientSecret
package import Config
import Failures
import Keys
import Linux
package import Model
import Outputs
package import Rotation
import State
import UserWriter

/// What `run` would do with a configuration, found by the jobs that only read: nothing is written, started or locked.
package struct DryRun: Sendable {
    /// What `run` would do with one client's secret.
    package struct Secret: Sendable {
        package let client: ClientName
        package let decision: Decision
        /// Its outputs that do not hold the secret that would be kept, and would be written.
        package let outputsToWrite: [AbsolutePath]
        /// Its targets that were not given the secret that would be kept, and would be.
        package var targetsToPush: [TargetName] = []
    }

    /// Something that would not work, and for which client.
    package struct Problem: Sendable {
        package let failure: Failure
        /// Nil when it concerns several clients, such as a key that they share.
        package let client: ClientName?
    }

    /// In the order of the clients' names.
    package let secrets: [Secret]
    package let problems: [Problem]
    /// The lines that the sandboxes of the writing units lack.
    package let dropIns: [DropIn]
    /// Users whose writer's socket works now, but is not there after a reboot.
    package let idleWriters: [String]
    /// Why Apple cannot be asked about new secrets, for each client with `verify: true`, and targets that only `run --once`
    /// reaches as long as no service listens: what `run` or `run --once` still serves.
    package let unasked: [Failure]
    /// What would keep etcd from letting this machine in, by the files that can be read: what `run` still serves.
    package let storeFailures: [Failure]
    /// What the units' settings in effect weaken or remove, a line each: what `run` still serves.
    package let warningsOfUnits: [String]
    /// The state directory, if it is missing and systemd makes it when the service starts.
    package let stateDirectoryMadeAtStart: AbsolutePath?
    /// Outputs of the configuration that was last adopted which are no longer outputs, and hold a valid secret or cannot be read.
    package let orphans: [OrphanedOutput]

    /// Reads every key, every output and the state directory. Blocks.
    ///
    /// - Parameters:
    ///   - socket: the daemon's status socket; the writers' sockets are in the same directory.
    ///   - unit: the one that runs the daemon; nil where systemd does not, or cannot be asked.
    package init(
        of loaded: LoadedConfiguration, from settings: ConfigurationSource, socket: String, unit: ServiceUnit? = nil
    ) {
        let configuration = loaded.configuration
        let now = Clock.now()
        let identity = settings.identity
        _ = PrivateKeyHeap.start()
        guard let reader = DryRunReader(loaded, settings, identity, socket) else {
            secrets = []
            orphans = []
            problems = [Problem(failure: Failure(.systemError, at: .named("the kernel's random source")), client: nil)]
            (dropIns, idleWriters, unasked, storeFailures, stateDirectoryMadeAtStart) = ([], [], [], [], nil)
            warningsOfUnits = []
            return
        }
        var rotation = Rotation(
            seed: 0, hostJitter: HostJitter.value, builtAt: Version.builtAt, startedAt: now.wall,
            configurationPath: settings.path)
        rotation.handle(.configured(configuration), at: now)
        while true {
            let inputs = reader.read(rotation.plan(at: now).start)
            // The other jobs would write or run something: the dry run ends here.
            if inputs.isEmpty { break }
            for input in inputs { rotation.handle(input, at: now) }
        }
        let names = configuration.clients.keys.sorted()
        var failed = rotation.failures
        secrets = names.map { name in
            var deadlines = Deadlines(now: now)
            var decision = rotation.decide(name, &deadlines)
            if case .mint = decision, let key = configuration.clients[name]?.key, failed[.key(key)] != nil {
                decision = .wait
            }
            let paths = Set(configuration.clients[name]?.outputs.map(\.path) ?? []).sorted()
            var secret = Secret(
                client: name, decision: decision, outputsToWrite: paths.filter { !rotation.isGood($0) })
            secret.targetsToPush = (configuration.clients[name]?.targets ?? []).map(\.target)
                .filter { !rotation.isGood($0) }
            return secret
        }
        let former = settings.loadAdopted()?.configuration.places ?? []
        orphans = reader.orphans(among: former, excluding: configuration.places).filter {
            $0.expiresAt.map { now.wall < $0 } != false
        }
        var review = unit.map { SandboxReview($0) }
        var problems: [Problem] = review?.obstaclesToStart.map { Problem(failure: $0, client: nil) } ?? []
        let files = configuration.files
        let obstacles = reader.obstacles(
            to: files.values.filter { failed[.file($0.path)] == nil }.map {
                ($0, mayCreate: rotation.mayCreate($0.path))
            })
        for (path, spec) in files {
            let met = failed.removeValue(forKey: .file(path)) ?? obstacles[path]
            let all = review?.obstacles(to: path, writer: reader.writer(for: spec), met: met) ?? [met].compactMap { $0 }
            problems += all.map { Problem(failure: $0, client: spec.slots.values.min()) }
        }
        let inEffect = unit == nil ? nil : UnitsInEffect(of: configuration)
        let tokens = loaded.tokenCredentials
        var unasked: [Failure] = []
        for name in names {
            for target in configuration.clients[name]?.targets.map(\.target) ?? [] {
                let failure = reader.obstacle(to: target) ?? inEffect?.obstacle(to: target, token: tokens[target])
                guard let failure else { continue }
                // Without systemd it may be for `run --once`, which needs no socket.
                if failure.code == .pushServiceMissing, !SystemManager.isSystemd {
                    unasked.append(failure)
                } else {
                    problems.append(Problem(failure: failure, client: name))
                }
            }
        }
        for (name, entry) in configuration.keys {
            let hidden = review?.obstacles(to: entry, as: identity) ?? []
            if !hidden.isEmpty { failed[.key(name)] = nil }
            problems += hidden.map { Problem(failure: $0, client: nil) }
        }
        // What the store holds is not asked here.
        if let failure = failed.removeValue(forKey: .store), failure.code == .storeServiceMissing {
            problems.append(Problem(failure: failure, client: nil))
        } else if let failure = inEffect?.obstacleToStore {
            problems.append(Problem(failure: failure, client: nil))
        }
        for (name, failure) in rotation.sourceFailures where configuration.clients[name]?.source?.isStore == false {
            failed[.source(name)] = nil
            // An older source, or none, changes nothing as long as there is a secret.
            if failure.code == .sourceWrong || failure.code == .sourceUnreadable || rotation.current(of: name) == nil {
                problems.append(Problem(failure: failure, client: name))
            }
        }
        problems += failed.map { Problem(failure: $0.value, client: $0.key.client) }
        problems += rotation.keyChanges(at: now).map { Problem(failure: $0, client: nil) }
        let notices = configuration.onStateChange.flatMap { action in HealthState.allCases.map(action.naming) }
        let actions = Set(configuration.clients.values.flatMap(\.onChange) + notices)
        let ofUnits = UnitAction(cancel: nil).obstacles(
            to: Array(actions), as: Identity.ofService(askedBy: identity).user)
        for name in names {
            for action in configuration.clients[name]?.onChange ?? [] {
                if let failure = review?.obstacle(to: action) ?? ExecAction.obstacle(to: action, as: identity)
                    ?? ofUnits[action]
                {
                    problems.append(Problem(failure: failure, client: name))
                }
            }
        }
        for action in configuration.onStateChange {
            let named = HealthState.allCases.map(action.naming)
            let ofUnit = Set(named).compactMap { ofUnits[$0] }.sorted { $0.message < $1.message }
            let ofProgram = review?.obstacle(to: action) ?? ExecAction.obstacle(to: action, as: identity)
            problems += ([ofProgram].compactMap { $0 } + ofUnit).map { Problem(failure: $0, client: nil) }
        }
        var stateDirectoryMadeAtStart: AbsolutePath?
        if let path = settings.stateDirectory(of: configuration) {
            let met = DryRunReader.obstacle(at: path) { StateDirectory.obstacle(to: path, as: identity) }
            // Each client's record fails for the same reason.
            if met != nil { problems.removeAll { $0.failure.code == .stateUnusable } }
            let all = review?.obstacles(toState: path, met: met) ?? [met].compactMap { $0 }
            problems += all.map { Problem(failure: $0, client: nil) }
            if review?.makes(path) == true { stateDirectoryMadeAtStart = path }
        }
        if let path = configuration.metricsFile {
            let met = reader.obstacle(toMetricsFile: path)
            let bySandbox = met == nil ? review?.obstacles(to: path, writer: nil, met: nil) ?? [] : []
            let all = [met].compactMap { $0 } + bySandbox.map { $0.ofMetricsFile(path) }
            problems += all.map { Problem(failure: $0, client: nil) }
        }
        if let group = configuration.controlGroup, (try? Accounts.groupID(group)).flatMap({ $0 }) == nil {
            problems.append(Problem(failure: Failure(.unknownGroup, at: .named(group)), client: nil))
        }
        self.problems = problems
        self.stateDirectoryMadeAtStart = stateDirectoryMadeAtStart
        warningsOfUnits = (inEffect?.weakness.map { [$0] } ?? []) + (inEffect?.warnings ?? [])
        dropIns = review?.dropIns ?? []
        idleWriters = review?.idleWriters ?? []
        let verifier = settings.verifier(besideSocket: socket, isOnce: false, cancel: nil)
        storeFailures = loaded.store.map { StoreLoginFiles.failures(of: $0, as: identity, at: now.wall) } ?? []
        unasked += names.compactMap { name in
            configuration.clients[name]?.verify == true ? verifier.obstacle(for: name) : nil
        }
        self.unasked = unasked
    }
}

/// Runs the jobs that only read.
private struct DryRunReader: Sendable {
    private let executor: Executor
    private let settings: ConfigurationSource
    private let state: AbsolutePath?
    private let identity: Identity

    init?(_ loaded: LoadedConfiguration, _ settings: ConfigurationSource, _ identity: Identity, _ socket: String) {
        guard let naming = try? TemporaryNames(),
            let storeService = try? settings.storeService(besideSocket: socket, cancel: nil)
        else { return nil }
        self.settings = settings
        self.identity = identity
        state = settings.stateDirectory(of: loaded.configuration)
        executor = Executor(
            log: Log(environment: [:]), identity: identity, naming: naming,
            state: StateAccess(closed: Failure(.stateUnusable, at: .named("check"))), settings: settings,
            secretCache: SecretCache(), keyring: KeyCache(),
            writers: settings.writers(besideSocket: socket, cancel: nil),
            verifier: settings.verifier(besideSocket: socket, isOnce: false, cancel: nil),
            pusher: settings.pusher(besideSocket: socket, isOnce: false, cancel: nil),
            storeService: storeService, runner: nil, findings: nil)
        executor.adopt(loaded)
    }

    /// The results of those of the jobs that only read, in the jobs' order.
    func read(_ jobs: [Job]) -> [Input] {
        let reading = jobs.filter(\.work.isReading)
        let results = executor.map(reading, in: executor.lane(of:)) { job -> Result<Outcome, Failure> in
            do throws(Failure) { return .success(try carryOut(job)) } catch { return .failure(error) }
        }
        return zip(reading, results).map { .finished($0.id, $1) }
    }

    private func carryOut(_ job: Job) throws(Failure) -> Outcome {
        // A request would start the service, so only the socket is checked. The failure below holds back nothing else.
        if case .readStore = job.work {
            throw executor.storeService.obstacle() ?? Failure(.storeUnconfigured, at: .store)
        }
        guard case .recall(let client, let places) = job.work else { return try executor.carryOut(job) }
        guard let state else { return .recalled(Record()) }
        return executor.remember(
            try StateDirectory.peek(
                client, publishedAt: places, in: state, as: identity, sha256: { SHA256.digest($0) }))
    }

    /// The user whose writer writes a file; nil where the daemon does, or there is no such user.
    func writer(for spec: FileSpec) -> String? {
        (try? executor.writer(for: spec)).flatMap { $0 }
    }

    /// What would keep those of the files from being written that could not be.
    func obstacles(to files: [(spec: FileSpec, mayCreate: Bool)]) -> [AbsolutePath: Failure] {
        let lane = { [executor] (file: (spec: FileSpec, mayCreate: Bool)) in executor.lane(of: file.spec) }
        let found = executor.map(files, in: lane) { [self] file in obstacle(to: file.spec, mayCreate: file.mayCreate) }
        return zip(files, found).reduce(into: [:]) { $0[$1.0.spec.path] = $1.1 }
    }

    private func obstacle(to spec: FileSpec, mayCreate: Bool) -> Failure? {
        let find: @Sendable () -> Failure? = { [executor] in
            do throws(Failure) {
                return try executor.destination(spec).obstacle(mayCreate: mayCreate)
            } catch {
                return error
            }
        }
        // Its user's writer has a timeout of its own.
        return spec.owner == nil ? Self.obstacle(at: spec.path, find) : find()
    }

    func obstacle(to target: TargetName) -> Failure? { executor.pusher.obstacle(to: target) }

    func obstacle(toMetricsFile path: AbsolutePath) -> Failure? {
        Self.obstacle(at: path) { [executor] in executor.metricsFile(path).obstacle() }
    }

    /// What `find` finds, or that the file system does not respond.
    static func obstacle(at path: AbsolutePath, _ find: @escaping @Sendable () -> Failure?) -> Failure? {
        guard let found = DiskPatience.value(at: path.description, find) else {
            return Failure(.notResponding, at: .path(path), detail: DiskPatience.words)
        }
        return found
    }

    func orphans(among former: Set<OutputPlace>, excluding outputs: Set<OutputPlace>) -> [OrphanedOutput] {
        executor.orphans(among: former, excluding: outputs)
    }
}

extension Work {
    /// Whether it only reads.
    fileprivate var isReading: Bool {
        switch self {
        case .readKey, .readSource, .readStore, .observe, .recall: true
        case .readConfiguration, .checkConfiguration, .mint, .keep, .verify, .publish, .push, .putInStore,
            .putRollout, .putReport, .readReports, .forgetReport, .readTarget, .run, .probe, .recallReportedStates,
            .keepReportedStates,
            .tidyRecords:
            false
        }
    }
}

extension Resource {
    fileprivate var client: ClientName? {
        switch self {
        case .client(let name), .verification(let name), .record(let name), .source(let name), .share(let name),
            .rollout(let name):
            name
        case .store, .report, .fleet, .configuration, .key, .file, .target, .action, .probe, .stateChangeAction, .state:
            nil
        }
    }
}
