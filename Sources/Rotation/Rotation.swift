package import AppleClientSecret
internal import Failures

/// The core: inputs go in, work to do comes out. It holds no clock, file, random source or thread, so that the same
/// inputs at the same moments always give the same steps.
///
/// A plan covers what was touched since the last one and what has become due; nothing else can have changed.
package struct Rotation: Sendable {
    package internal(set) var world = World()
    let chance: Chance
    /// From 0 to 1: where in the renewal window this host renews.
    let hostJitter: Double
    /// When the program was built: an earlier clock is wrong.
    let builtAt: WallTime
    let startedAt: WallTime
    /// Whether to bring everything up to date once and then end.
    let isOnce: Bool

    var touched = Touched()
    var wakes = WakeQueue()
    var views: [ClientName: ClientView] = [:]
    /// How many clients are in each state.
    var healthCounts: [HealthState: Int] = [:]
    var stateChangeActions = StateChangeActions()
    /// Whether an earlier configuration may have left records of removed clients.
    var wantsTidying = false
    /// Whether the records were searched for former outputs that still hold a secret, and these were reported.
    var areOrphansKnown = false
    /// Outputs that reloads removed, until it was checked whether they hold a secret.
    var removedPlaces: Set<OutputPlace> = []
    /// The state of each client that was last logged.
    var told: [ClientName: HealthState] = [:]
    /// The secrets that the credential socket serves.
    var served: [ClientName: SecretInfo] = [:]
    var pending: [PendingRequest] = []
    var changes: [LogEvent] = []
    var answers: [(RequestID, Answer)] = []
    var nextJob: UInt64 = 1
    var resources: [JobID: Resource] = [:]
    /// Jobs in the order in which they were started; finished ones are dropped when they come to the front.
    var inFlight: ArraySlice<JobID> = []
    /// Jobs that have run for longer than ``patience``.
    var overdue: Set<JobID> = []
    /// Jobs before this one were started for an earlier configuration.
    var firstJob: UInt64 = 1
    /// Failures under the earlier configuration whose work has not succeeded since.
    var former: [Resource: Attempts] = [:]
    /// What jobs before this one wrote to the state directory or read there may have been lost since.
    var firstLasting = JobID(number: 0)
    /// Jobs during which a change notice came: they may have read what was there before.
    var outdated: Set<JobID> = []
    /// Jobs that ran when a request wanted the same work: while it waits, one that fails is tried again at once.
    var retryAtOnce: Set<JobID> = []
    /// Clients that were not tried yet since the start or the last reload.
    var untried: Set<ClientName> = []
    /// Actions that were not probed yet since the start or the last reload.
    var unprobed: Set<ActionID> = []
    /// Clients that were tried since the start, under any configuration.
    var wasEverTried: Set<ClientName> = []
    /// In order; stored because sorting ten thousand for every snapshot would take noticeable time.
    var names: [ClientName] = []
    var isReady = false
    var isStopping = false
    var clock = ClockTrust()
    /// No secret that a key of ours has signed was issued later than this.
    var latestIssue: WallTime?
    /// The faults of the daemon as a whole.
    var daemonFaults: [DaemonFault] = []
    var configurationPath: String
    var configurationLoadedAt: WallTime
    /// Why the configuration on disk would be refused; nil while it would not.
    var refusal: [String]?
    /// Whether the configuration in force is the one last adopted before the start, because the one on disk was
    /// refused. It may no longer be wanted in every part: no action runs, and only what becomes critical is minted.
    var isRestrained = false
    /// When ``refusal`` was first found.
    var refusedAt: WallTime?
    /// When ``refusal`` was last found; nil once the configuration is being checked again.
    var refusalSeenAt: BootTime?
    /// Change notices of the configuration's files since they were last read.
    var configurationDebounce: Debounce?

    /// - Parameters:
    ///   - seed: of retries' jitter; fixed for a run.
    ///   - hostJitter: from 0 to 1, fixed for a host.
    ///   - once: end when everything was tried and nothing runs.
    package init(
        seed: UInt64, hostJitter: Double, builtAt: WallTime, startedAt: WallTime, configurationPath: String,
        once: Bool = false
    ) {
        chance = Chance(seed: seed)
        self.hostJitter = hostJitter
        self.builtAt = builtAt
        self.startedAt = startedAt
        self.configurationPath = configurationPath
        configurationLoadedAt = startedAt
        isOnce = once
    }

    /// Decides what to do now, and marks the jobs that it starts as running.
    package mutating func plan(at now: Now) -> Step {
        for resource in wakes.takeReached(at: now) { touch(resource) }
        var step = Step()
        planPatience(at: now)
        planClock(at: now)
        planConfiguration(at: now, &step)
        planRequests(at: now)
        // In the order in which a secret is processed: each call sees what the one before it decided.
        for key in touched.keys.sorted() { planKey(key, at: now, &step) }
        var clients = planClients(at: now, &step)
        for client in clients {
            planRecord(client, at: now, &step)
            settle(client)
            planServed(client, &step)
        }
        for file in touched.files.sorted() { planFile(file, at: now, &step) }
        for action in touched.actions.sorted() { planAction(action, at: now, &step) }
        // Planning files and actions may have touched further clients.
        clients += subjects(touched.takeClients())
        // What was under way until now counts as missing from now on; each client is judged once, for each judging sets a wake.
        noteTried(clients, at: now)
        for client in clients { judge(client, at: now) }
        planReadiness()
        planProbes(at: now, &step)
        planStateChangeActions(at: now, &step)
        planTidying(at: now, &step)
        touched = Touched()
        planAnswers(at: now)
        step.wake = wakes.earliest()
        if let job = oldestInFlight() { step.wake.formEarliest(with: Wake(boot: job.startedAt + Self.patience)) }
        swap(&step.changes, &changes)
        swap(&step.answers, &answers)
        step.ended = isStopping ? world.running.isEmpty : isOnce && isReady && world.running.keys.allSatisfy(isHanging)
        return step
    }

    // MARK: What was touched

    /// The subjects of those clients that are configured, in the order of their names.
    func subjects(_ names: Set<ClientName>) -> [Subject] {
        names.sorted().compactMap { world.index.subjects[$0] }
    }

    /// Has a resource and the clients that depend on it planned next.
    mutating func touch(_ resource: Resource) {
        switch resource {
        case .key(let name):
            // Once is enough: a caller that goes through all clients of a key touches it for each of them.
            guard touched.keys.insert(name).inserted else { return }
            for client in world.index.clients(of: name) { touch(client) }
        case .client(let name), .record(let name):
            touch(name)
        case .file(let path):
            touched.files.insert(path)
            for client in world.index.clients(of: path) { touch(client) }
        case .action(let id):
            touched.actions.insert(id)
            for client in world.index.clients(of: id) { touch(client) }
        case .probe(let id):
            touched.probes.insert(id)
            for client in world.index.clients(of: id) { touch(client) }
        case .configuration, .stateChangeAction, .state:
            // Every plan covers these.
            break
        }
    }

    private mutating func touch(_ client: ClientName) {
        guard touched.insert(client), let subject = world.index.subjects[client] else { return }
        touch(filesAndActionsOf: subject)
    }

    mutating func touch(filesAndActionsOf client: Subject) {
        touched.files.formUnion(client.files)
        touched.actions.formUnion(client.actions)
    }

    /// Has the next plan cover everything, as after the clock was set. Such a plan starts nothing that one over the
    /// touched resources would not.
    package mutating func touchEverything() {
        touched.keys.formUnion(world.keys.keys)
        for name in world.clients.keys { touch(name) }
        touched.files.formUnion(world.files.keys)
        touched.actions.formUnion(world.index.actions.keys)
    }

    // MARK: Jobs

    /// Starts `work` unless the resource is busy or in backoff, or the daemon is stopping. A failed write does not
    /// delay reading the file back.
    @discardableResult
    mutating func start(_ work: Work, on resource: Resource, _ deadlines: inout Deadlines, _ step: inout Step) -> Bool {
        guard !isStopping, world.running[resource] == nil else { return false }
        if let attempts = world.attempts[resource], attempts.wasObservation || !work.isObservation,
            !deadlines.reached(attempts.notBefore)
        {
            return false
        }
        let job = Job(id: JobID(number: nextJob), resource: resource, work: work, startedAt: deadlines.now.boot)
        nextJob += 1
        world.running[resource] = job
        resources[job.id] = resource
        inFlight.append(job.id)
        step.start.append(job)
        // Actions wait for the job, also those of other clients that share the file.
        if case .file(let path) = resource {
            for client in world.index.clients(of: path) {
                touched.actions.formUnion(world.index.actions(of: client))
            }
        }
        return true
    }

    /// Whether a job runs for `resource` that others should wait for; nothing waits for an overdue one.
    func isBusy(_ resource: Resource) -> Bool {
        guard let job = world.running[resource] else { return false }
        return !overdue.contains(job.id)
    }

    /// Whether the job for `resource` has run for longer than ``patience``.
    func isOverdue(_ resource: Resource) -> Bool {
        !overdue.isEmpty && world.running[resource] != nil && !isBusy(resource)
    }

    /// Whether the job for `resource` may never end.
    private func isHanging(_ resource: Resource) -> Bool {
        hang(of: resource) != nil
    }

    /// The failure to report for an overdue job; nil for an action, which has a timeout of its own.
    func hang(of resource: Resource) -> Failure? {
        guard isOverdue(resource) else { return nil }
        return switch resource {
        case .configuration: Failure(.notResponding, at: .named(configurationPath))
        case .key(let name): Failure(.notResponding, at: .key(name))
        case .client(let name), .record(let name): Failure(.notResponding, at: .client(name))
        case .file(let path): Failure(.notResponding, at: .path(path))
        case .probe(let id): Failure(.notResponding, at: .action(id))
        case .action, .stateChangeAction: nil
        case .state: Failure(.notResponding, at: .named("the state directory"))
        }
    }

    /// A job that runs for longer is reported as not responding. It keeps its resource: nothing else starts on that.
    package static let patience: Seconds = 30

    /// Marks the jobs that have become overdue.
    private mutating func planPatience(at now: Now) {
        var deadlines = Deadlines(now: now)
        while let job = oldestInFlight(), deadlines.reached(job.startedAt + Self.patience) {
            inFlight.removeFirst()
            overdue.insert(job.id)
            touch(job.resource)
        }
    }

    /// The longest-running job that is not overdue. Jobs start in order, so only this one needs a deadline.
    private mutating func oldestInFlight() -> Job? {
        while let id = inFlight.first {
            if let resource = resources[id], let job = world.running[resource] { return job }
            inFlight.removeFirst()
        }
        return nil
    }
}

/// What was touched since the last plan.
struct Touched: Sendable {
    var keys: Set<KeyName> = []
    var files: Set<AbsolutePath> = []
    var actions: Set<ActionID> = []
    var probes: Set<ActionID> = []
    /// Files and actions whose clients were all touched because one of them is renewed.
    var batched: Set<Resource> = []
    private var clients: Set<ClientName> = []
    /// Clients that were already taken: one plan takes none twice.
    private var taken: Set<ClientName> = []

    /// Touches a client. Returns whether it was not touched before.
    mutating func insert(_ client: ClientName) -> Bool {
        !taken.contains(client) && clients.insert(client).inserted
    }

    /// The clients that were touched since they were last taken.
    mutating func takeClients() -> Set<ClientName> {
        taken.formUnion(clients)
        defer { clients = [] }
        return clients
    }
}
