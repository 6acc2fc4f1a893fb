import AppleClientSecret
import Config
import Failures
import Keys
import Linux
import Outputs
import Rotation
import SystemPackage
import UserWriter

/// Runs jobs on worker threads: everything that blocks, touches a disk or sees a secret.
final class Executor: Sendable {
    let secretCache: SecretCache
    let keyring: Keyring
    let publisher: Publisher
    let writers: UserWriterClient
    let naming: TemporaryNames
    let boundaries = ReservedPaths()
    /// Nil where nothing is written, as in a dry run.
    let leftovers: Leftovers?
    /// While the state directory cannot be used nothing is kept, and every attempt fails with the reason.
    let state: StateAccess
    let identity: Identity
    let settings: SettingsSource
    /// Nil where nothing is run, as in a dry run.
    private let runner: ActionRunner?
    let log: Log
    /// Called with every configuration that was read and accepted.
    let adopting: @Sendable (Configuration) -> Void
    /// Receives which links lead to a file, and where it really is.
    let findings: Inbox<Watcher.Finding>?
    let pool: WorkerPool<Lane>
    let mounts: QuietMutex<MountTable>
    let textToKeep = QuietMutex<Loaded?>(nil)
    let keepingText = QuietMutex<Void>(())

    /// Jobs wait for disks, so threads, not cores, limit the throughput. Twice as many as a lane's maximum, because
    /// secrets are published while others are kept in the state directory. More gain little: twice or four times as
    /// many published ten thousand clients sooner by a twentieth at most.
    private static let threads = 2 * threadsPerLane
    private static let threadsPerLane = 8

    init(
        log: Log, identity: Identity, naming: TemporaryNames, state: StateAccess,
        settings: SettingsSource,
        secretCache: SecretCache,
        keyring: Keyring, writers: UserWriterClient, runner: ActionRunner?, findings: Inbox<Watcher.Finding>?,
        adopting: @escaping @Sendable (Configuration) -> Void = { _ in }
    ) {
        self.adopting = adopting
        self.findings = findings
        self.identity = identity
        self.naming = naming
        self.writers = writers
        self.state = state
        self.settings = settings
        self.secretCache = secretCache
        self.keyring = keyring
        self.runner = runner
        self.log = log
        publisher = Publisher(as: identity, naming: naming, boundaries: boundaries, sha256: { SHA256.digest($0) })
        leftovers = runner == nil ? nil : Leftovers(naming: naming, as: identity, boundaries: boundaries)
        pool = WorkerPool(limit: Self.threads, perLane: Self.threadsPerLane)
        mounts = QuietMutex(MountTable(MountTable.current()))
    }

    /// Starts jobs; `report` is called once for each with its result, usually on a worker's thread.
    func start(_ jobs: [Job], report: @escaping @Sendable (Input) -> Void) {
        var short: [Lane: [Job]] = [:]
        for job in jobs {
            if job.work.isShort {
                short[lane(of: job), default: []].append(job)
            } else {
                start([job], in: lane(of: job), report)
            }
        }
        for (lane, jobs) in short {
            let size = Self.share(of: jobs.count)
            for first in stride(from: 0, to: jobs.count, by: size) {
                start(Array(jobs[first..<min(first + size, jobs.count)]), in: lane, report)
            }
        }
    }

    /// How many of `count` short jobs a thread runs in a row: queueing each by itself would take longer than the jobs.
    /// With only a few for each thread it is 1, so that none waits for another.
    static func share(of count: Int) -> Int { min(max(count / (2 * threads), 1), 16) }

    private func start(_ jobs: [Job], in lane: Lane, _ report: @escaping @Sendable (Input) -> Void) {
        do {
            try pool.run(in: lane, isUrgent: jobs.contains { $0.work.isWrite }) { [self] in
                for job in jobs {
                    let result: Result<Outcome, Failure>
                    do throws(Failure) { result = .success(try carryOut(job)) } catch { result = .failure(error) }
                    report(.finished(job.id, result))
                }
            }
        } catch {
            let failure = Failure(.outOfMemory, at: .named("worker thread"), cause: error.errno.rawValue)
            for job in jobs { report(.finished(job.id, .failure(failure))) }
        }
    }

    private func lane(of job: Job) -> Lane {
        switch job.work {
        case .readConfiguration, .checkConfiguration: .settings
        case .readKey(let name, _): .key(name)
        case .recall, .keep, .recallReportedStates, .keepReportedStates, .tidyRecords: .state
        case .mint: .signing
        case .observe(let spec), .publish(let spec, _, _): spec.owner.map(Lane.writer) ?? lane(of: spec.path)
        case .run(let action, _): .hook(action.id)
        case .probe: .probes
        }
    }

    /// Reads the mount table again, on a worker.
    func readMounts() {
        try? pool.run(in: .settings) { [self] in takeMounts() }
    }

    /// Read outside the lock: the loop takes it, and must never wait.
    func takeMounts() {
        let table = MountTable(MountTable.current())
        mounts.withLock { $0 = table }
    }

    /// Checks on a worker whether the state directory is still in place.
    func makeSureOfState() {
        // Without a thread, the next job that uses it checks.
        try? pool.run(in: .state) { [state] in state.makeSure() }
    }

    /// The lane of all jobs on the mount of a path.
    func lane(of path: AbsolutePath) -> Lane {
        .mount(mounts.withLock { $0.point(of: path) })
    }

    /// Runs a job. Blocks.
    func carryOut(_ job: Job) throws(Failure) -> Outcome {
        switch job.work {
        case .readConfiguration: readConfiguration()
        case .checkConfiguration: checkConfiguration()
        case .readKey(let name, let entry): try readKey(name, entry)
        case .recall(let client): try recall(client)
        case .observe(let spec): try observe(spec)
        case .mint(_, let key, let claims): try mint(key, claims)
        case .keep(let client, let record): try keep(record, of: client)
        case .publish(let spec, let secrets, let mayCreate): try publish(secrets, in: spec, mayCreate: mayCreate)
        case .run(let action, let covering): try run(action, covering)
        case .probe(let action): try probe(action)
        case .recallReportedStates: try recallReportedStates()
        case .keepReportedStates(let told): try keep(told)
        case .tidyRecords(let clients, let moment, let former, let outputs): tidy(clients, moment, former, outputs)
        }
    }

    private func mint(_ name: KeyName, _ claims: Claims) throws(Failure) -> Outcome {
        guard let key = keyring.signingKey(name) else { throw Failure(.keyMissing, at: .key(name)) }
        let minted = try key.mint(claims)
        secretCache.put(Secret(token: minted.token, issued: minted.issued))
        return .minted(minted.issued)
    }

    private func run(_ action: Action, _ covering: [ClientName: Covered]) throws(Failure) -> Outcome {
        try runner?.run(action, covering)
        return .ran
    }

    private func probe(_ action: Action) throws(Failure) -> Outcome {
        if let obstacle = runner?.obstacle(to: action) { throw obstacle }
        return .feasible
    }

    /// For a secret that is not in the cache, which is a bug; the next observation finds or mints another.
    func lost(_ issued: SecretInfo) -> Failure {
        Failure(.systemError, at: .named(issued.fingerprint.description), detail: "its bytes are not known any more")
    }

    /// Drops all other secrets from the cache.
    func forget(allBut fingerprints: Set<Fingerprint>) {
        secretCache.keepOnly(fingerprints)
    }

    var secretCount: Int { secretCache.count }
}
