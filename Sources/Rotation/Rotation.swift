package import AppleClientSecret

/// The core: facts go in, what is to be done comes out. It holds no clock, file, random source or thread, so that the
/// same facts at the same moments always come to the same turns.
///
/// A plan covers what was touched since the last one and whatever has become due; everything else cannot have changed.
package struct Rotation: Sendable {
    package internal(set) var world = World()
    let chance: Chance
    /// From 0 to 1, where in the renewal window this host acts.
    let hostJitter: Double
    /// The clock cannot be right before this moment.
    let builtAt: WallTime
    let startedAt: WallTime
    /// Whether everything is brought up to date once and the loop then ends.
    let isOnce: Bool

    var touched = Touched()
    var wakes = WakeQueue()
    var views: [ClientName: ClientView] = [:]
    /// How many clients stand how.
    var healthCounts: [HealthState: Int] = [:]
    var stateChangeActions = StateChangeActions()
    /// Whether another configuration may have left records of clients that are gone.
    var wantsTidying = false
    /// Whether whatever the records name as an output is one, or somebody was told that it is none any more.
    var areOrphansKnown = false
    /// What reloads have taken from the outputs, until it was looked at.
    var removedPlaces: Set<OutputPlace> = []
    /// The standing of each client that was last noted in the journal.
    var told: [ClientName: HealthState] = [:]
    /// What the credential socket hands out.
    var served: [ClientName: SecretInfo] = [:]
    var pending: [PendingRequest] = []
    var changes: [LogEvent] = []
    var answers: [(RequestID, Answer)] = []
    var nextJob: UInt64 = 1
    var resources: [JobID: Resource] = [:]
    /// Jobs in the order in which they were started; finished ones are dropped when they come to the front.
    var inFlight: ArraySlice<JobID> = []
    /// Jobs that run although their time is over.
    var overdue: Set<JobID> = []
    /// Jobs before this one were started for an earlier configuration.
    var firstJob: UInt64 = 1
    /// What failed under the earlier configuration and was not seen to succeed since.
    var former: [Resource: Attempts] = [:]
    /// What jobs before this one have kept, or found kept, may have been lost since.
    var firstLasting = JobID(number: 0)
    /// Jobs during which a sign of change came: what they saw may be what was there before.
    var outdated: Set<JobID> = []
    /// Jobs during which somebody asked for what they do: as long as they wait, one that fails is tried again at once.
    var retryAtOnce: Set<JobID> = []
    /// Clients that were not tried yet since the start or the last reload.
    var untried: Set<ClientName> = []
    /// Actions that were not looked at yet since the start or the last reload.
    var unprobed: Set<ActionID> = []
    /// Clients that were tried since the start, by whichever configuration.
    var wasEverTried: Set<ClientName> = []
    /// In order; kept because sorting ten thousand for every snapshot would be felt.
    var names: [ClientName] = []
    var isReady = false
    var isStopping = false
    var clock = ClockTrust()
    /// No secret that a key of ours has signed was issued later than this.
    var latestIssue: WallTime?
    /// What the daemon as a whole lacks.
    var daemonFaults: [DaemonFault] = []
    var configurationPath: String
    var configurationLoadedAt: WallTime
    /// Why the configuration that lies there now would not be accepted.
    var refusal: [String]?
    /// Whether the configuration in force is the one that was last adopted before the start, for want of one that passes.
    /// Nobody knows whether all of it is still wanted: no action runs, and nothing is minted but what becomes critical.
    var isRestrained = false
    /// When ``refusal`` was first found.
    var refusedAt: WallTime?
    /// When ``refusal`` was last found; nil while it is looked for again.
    var refusalSeenAt: BootTime?
    /// Notices of the configuration's files since they were last read.
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

    /// What is to be done now that was not done yet; marks what it starts as running.
    package mutating func plan(at now: Now) -> Step {
        for resource in wakes.takeReached(at: now) { touch(resource) }
        var step = Step()
        planPatience(at: now)
        planClock(at: now)
        planConfiguration(at: now, &step)
        planRequests(at: now)
        // In the order of a secret's way: each step sees what the one before it decided.
        for key in touched.keys.sorted() { planKey(key, at: now, &step) }
        var clients = planClients(at: now, &step)
        for client in clients {
            planRecord(client, at: now, &step)
            settle(client)
            planServed(client, &step)
        }
        for file in touched.files.sorted() { planFile(file, at: now, &step) }
        for action in touched.actions.sorted() { planAction(action, at: now, &step) }
        // What was decided for files and actions may have touched further ones.
        clients += subjects(touched.takeClients())
        for client in clients { judge(client, at: now) }
        planReadiness(of: clients, at: now)
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

    /// Those of the clients that are configured, in the order of their names.
    func subjects(_ names: Set<ClientName>) -> [Subject] {
        names.sorted().compactMap { world.index.subjects[$0] }
    }

    /// Marks a resource and whoever decides by it.
    mutating func touch(_ resource: Resource) {
        switch resource {
        case .key(let name):
            // Once is enough: whoever asks for all clients of a key touches it for each of them.
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
            // Planned every time.
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

    /// Has the next plan cover everything, as after a clock that was set; it starts nothing that a plan over what was
    /// touched would not.
    package mutating func touchEverything() {
        touched.keys.formUnion(world.keys.keys)
        for name in world.clients.keys { touch(name) }
        touched.files.formUnion(world.files.keys)
        touched.actions.formUnion(world.index.actions.keys)
    }

    // MARK: Jobs

    /// Starts `work` unless the resource is busy, its last failure is too fresh or the daemon is stopping.
    /// Looking at a file need not wait because it could not be written.
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
        // Actions wait for it, also those of clients that merely share the file.
        if case .file(let path) = resource {
            for client in world.index.clients(of: path) {
                touched.actions.formUnion(world.index.actions(of: client))
            }
        }
        return true
    }

    /// Whether a job runs for `resource` that others should wait for: one that has run for too long holds up nobody.
    func isBusy(_ resource: Resource) -> Bool {
        guard let job = world.running[resource] else { return false }
        return !overdue.contains(job.id)
    }

    /// Whether a job runs for `resource` although its time is over.
    func isOverdue(_ resource: Resource) -> Bool {
        !overdue.isEmpty && world.running[resource] != nil && !isBusy(resource)
    }

    /// Whether it is not to be expected that what runs for `resource` ever ends.
    private func isHanging(_ resource: Resource) -> Bool {
        hang(of: resource) != nil
    }

    /// What can be said of a job that has run for too long; nil for an action, which has a time of its own to end in.
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

    /// After this long a job is said to be not responding. It keeps its resource: nothing else starts on that.
    package static let patience: Seconds = 30

    /// Finds the jobs that have run for too long.
    private mutating func planPatience(at now: Now) {
        var deadlines = Deadlines(now: now)
        while let job = oldestInFlight(), deadlines.reached(job.startedAt + Self.patience) {
            inFlight.removeFirst()
            overdue.insert(job.id)
            touch(job.resource)
        }
    }

    /// The job that has run for longest of those whose time is not over. Jobs start in order, so that this one alone
    /// needs a deadline.
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
    /// Clients that were taken already, which nothing brings back.
    private var taken: Set<ClientName> = []

    /// Whether the client was not touched before.
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
