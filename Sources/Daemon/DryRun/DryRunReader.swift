import AppleClientSecret
import Config
import Failures
import Linux
import Model
import Outputs
import Rotation
import State

/// Runs the jobs that only read.
struct DryRunReader: Sendable {
    let executor: Executor
    private let state: AbsolutePath?
    private let records: StateReader?

    /// Nil if the kernel gives no descriptor.
    ///
    /// - Parameter socket: the daemon's status socket.
    init?(_ loaded: LoadedConfiguration, from settings: ConfigurationSource, socket: String) {
        guard let services = try? ServiceClients(of: settings, besideSocket: socket) else { return nil }
        state = settings.stateDirectory(of: loaded.configuration)
        records = state.map { StateReader(in: $0, as: settings.identity) }
        executor = Executor(
            settings: settings, naming: TemporaryNames(),
            state: StateAccess(closed: Failure(.stateUnusable, at: .named("check"))), services: services,
            log: Log(environment: [:]))
        executor.adopt(loaded)
    }

    /// The state of `run` after every job that only reads: the others would write or run something.
    func rotation(of configuration: Configuration, from settings: ConfigurationSource, at now: Now) -> Rotation {
        var rotation = Rotation(
            seed: 0, renewalJitter: RenewalJitter.value, builtAt: Version.builtAt, startedAt: now.wall,
            configurationPath: settings.path,
            clockRun: state.map { BootRecord(in: $0, as: settings.identity).run })
        rotation.handle(.configured(configuration), at: now)
        while true {
            let inputs = read(rotation.plan(at: now).start)
            if inputs.isEmpty { return rotation }
            for input in inputs { rotation.handle(input, at: now) }
        }
    }

    /// The results of those of the jobs that only read, in the jobs' order.
    private func read(_ jobs: [Job]) -> [Input] {
        let reading = jobs.filter(\.work.isReading)
        let results = executor.map(reading, in: executor.lane(of:)) { job in
            Result { () throws(Failure) in try carryOut(job) }
        }
        return zip(reading, results).map { .finished($0.id, $1) }
    }

    private func carryOut(_ job: Job) throws(Failure) -> Outcome {
        // A request would start the service, so only the socket is checked. The failure below holds back nothing else.
        if case .readStore = job.work {
            throw executor.services.store.problem() ?? Failure(.storeUnconfigured, at: .store)
        }
        guard case .recall(let client, let places) = job.work else { return try executor.carryOut(job) }
        guard let records else { return .recalled(Record()) }
        return .recalled(executor.remember(try records.recall(client, publishedAt: places)))
    }

    /// The secret that a client's place behind an API holds, by its record; nil if that is not known.
    func secret(of client: ClientName, in output: PushOutput) -> SecretInfo? {
        let record = try? records?.recall(client)?.record
        return record?.held(at: output)
    }

    /// The problems that would keep the daemon from writing these files.
    func problems(with files: [(spec: FileSpec, mayCreate: Bool)]) -> [AbsolutePath: Failure] {
        let lane = { [executor] (file: (spec: FileSpec, mayCreate: Bool)) in executor.lane(of: file.spec) }
        let found = executor.map(files, in: lane) { [self] file in problem(with: file.spec, mayCreate: file.mayCreate) }
        return zip(files, found).reduce(into: [:]) { $0[$1.0.spec.path] = $1.1 }
    }

    private func problem(with spec: FileSpec, mayCreate: Bool) -> Failure? {
        let find: @Sendable () -> Failure? = { [executor] in
            do throws(Failure) {
                return try executor.destination(spec).problem(mayCreate: mayCreate)
            } catch {
                return error
            }
        }
        // Its user's writer has a timeout of its own.
        return spec.owner == nil ? Self.problem(at: spec.path, find) : find()
    }

    /// All that would keep the state directory from being used.
    ///
    /// - Parameter review: of the sandbox of the unit that runs the daemon; nil if none is known.
    func problemsWithState(_ review: inout SandboxReview?) -> [Failure] {
        guard let state else { return [] }
        let met = Self.problem(at: state) { [executor] in
            StateDirectory.problem(with: state, as: executor.identity)
        }
        return review?.problems(withState: state, met: met) ?? [met].compactMap(\.self)
    }

    /// All that would keep `metrics_file` from being written; `review` is as above.
    func problems(withMetricsFile path: AbsolutePath?, _ review: inout SandboxReview?) -> [Failure] {
        guard let path else { return [] }
        if let met = Self.problem(at: path, { [executor] in executor.metricsFile(path).problem() }) { return [met] }
        return review?.problems(with: path, writer: nil, met: nil).map { $0.ofMetricsFile(path) } ?? []
    }

    /// The problem that `find` finds, or that the file system does not respond.
    static func problem(at path: AbsolutePath, _ find: @escaping @Sendable () -> Failure?) -> Failure? {
        guard let found = DiskTimeout.value(at: path.description, find) else {
            return Failure(.notResponding, at: .path(path), detail: DiskTimeout.words)
        }
        return found
    }
}

extension Work {
    /// Whether it only reads.
    fileprivate var isReading: Bool {
        switch self {
        case .readKey, .readSource, .readStore, .observe, .recall: true
        case .readConfiguration, .checkConfiguration, .mint, .keep, .verify, .publish, .push, .putInStore,
            .putRollout, .putReport, .readReports, .forgetReport, .readTarget, .run, .probe, .recallReportedStates,
            .keepReportedStates, .tidyRecords, .writeMetrics, .removeMetrics:
            false
        }
    }
}
