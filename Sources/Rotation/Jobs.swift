import AppleClientSecret
internal import Failures
import Model

/// The running jobs, the failed work, and when it is tried again.
///
/// - At most one job runs for each resource.
/// - Failed work is not started before its pause is over. A failed write does not delay reading the file back.
/// - A job that runs for longer than its limit is overdue: it keeps its resource, but nothing waits for it.
/// - Job numbers grow, so ``next`` serves as a time: store it when something changes. A job with a smaller number began
///   before the change, and its result does not count.
struct Jobs: Sendable {
    /// The number of the next job.
    private(set) var next = JobID.first
    /// The failures of work that has not succeeded since, also under an earlier configuration: a reload ends no failure.
    private(set) var attempts: [Resource: FailedAttempts] = [:]
    private(set) var isStopping = false
    private var running: [Resource: Running] = [:]
    private var resources: [JobID: Resource] = [:]
    /// No running job becomes overdue before this moment; nil if none does. It may be that of a job that has ended since.
    private(set) var nextOverdue: BootTime?
    private var overdueCount = 0
    /// The jobs that the current plan has started.
    private var started: [Job] = []
    /// Jobs before this one were started for an earlier configuration.
    private var firstOfConfiguration = JobID.first
    private let seed: UInt64

    private struct Running: Sendable {
        let job: Job
        var isOverdue = false
        /// Whether a request wanted the same work: while it waits, the work is tried again at once if it fails.
        var isWanted = false

        /// When it becomes overdue; nil for one that is, or that has a timeout of its own.
        var overdueAt: BootTime? { isOverdue ? nil : job.work.limit.map { job.startedAt + $0 } }
    }

    /// - Parameter seed: of retries' jitter.
    init(seed: UInt64) { self.seed = seed }

    // MARK: State

    var isEmpty: Bool { running.isEmpty }
    var count: Int { running.count }
    var all: some Sequence<Job> { running.values.lazy.map(\.job) }
    var hasFailure: Bool { !attempts.isEmpty || overdueCount > 0 }

    subscript(_ resource: Resource) -> Job? { running[resource]?.job }

    /// Whether a job runs for `resource` that others should wait for.
    func isBusy(_ resource: Resource) -> Bool { running[resource]?.isOverdue == false }

    /// A number from 0 up to 1, determined by the seed and the question, so that a run can be replayed: FNV-1a over its text,
    /// mixed by SplitMix64's finisher.
    func jitter(_ question: String) -> Double {
        var hash = seed ^ 0xcbf2_9ce4_8422_2325
        for byte in question.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        hash ^= hash >> 31
        return Double(hash >> 11) / Double(UInt64(1) << 53)
    }

    /// Whether the job for `resource` has run for longer than its limit.
    func isOverdue(_ resource: Resource) -> Bool { overdueCount > 0 && running[resource]?.isOverdue == true }

    /// Whether its work has failed, or does not end: nothing waits for it any longer.
    func failsOrIsOverdue(_ resource: Resource) -> Bool { currentFailure(of: resource) != nil || isOverdue(resource) }

    /// The failure of work that no reload has tried again since.
    func currentFailure(of resource: Resource) -> Failure? {
        attempts[resource].flatMap { $0.isBeforeReload ? nil : $0.failure }
    }

    /// Whether its work has failed in a job of the current configuration. Between two reloads a job may be older, and its
    /// failure over.
    func hasFailedSinceReload(_ resource: Resource) -> Bool {
        attempts[resource].map { $0.job >= firstOfConfiguration } == true
    }

    /// Whether its work has failed and is not tried again yet.
    func isPausing(_ resource: Resource, at now: Now) -> Bool {
        attempts[resource].map { now.boot < $0.notBefore } == true
    }

    /// Whether a job was started for the current configuration.
    func isCurrent(_ job: Job) -> Bool { job.id >= firstOfConfiguration }

    // MARK: Running

    /// Starts `work` unless the resource is busy or in backoff, or the daemon is stopping: then only its result is
    /// kept. Returns whether it was started.
    @discardableResult
    mutating func start(_ work: Work, on resource: Resource, _ timer: inout WakeTimer) -> Bool {
        guard mayStart(resource, isObservation: work.isObservation, isKeeping: work.isKeeping, &timer) else {
            return false
        }
        let job = Job(id: next, resource: resource, work: work, startedAt: timer.now.boot)
        next = JobID(number: next.number + 1)
        let entry = Running(job: job)
        running[resource] = entry
        resources[job.id] = resource
        if let moment = entry.overdueAt { nextOverdue = min(nextOverdue ?? moment, moment) }
        started.append(job)
        return true
    }

    /// Whether ``start(_:on:_:)`` would start work here now. This saves the computation of expensive work, such as this
    /// machine's report.
    ///
    /// - Parameters:
    ///   - isObservation: whether it reads a file back, which a failed write does not delay.
    ///   - isKeeping: see ``Work/isKeeping``.
    func mayStart(
        _ resource: Resource, isObservation: Bool = false, isKeeping: Bool = false, _ timer: inout WakeTimer
    ) -> Bool {
        guard !isStopping || isKeeping, running[resource] == nil else { return false }
        guard let attempts = attempts[resource], attempts.wasObservation || !isObservation else { return true }
        return timer.reached(attempts.notBefore)
    }

    /// The jobs that were started since this was last called.
    mutating func takeStarted() -> [Job] {
        defer { started = [] }
        return started
    }

    /// Ends a job; nil when it is unknown.
    ///
    /// - Returns: the job, whether a request has wanted it meanwhile, and whether it was overdue.
    mutating func finish(_ id: JobID) -> (job: Job, isWanted: Bool, wasOverdue: Bool)? {
        guard let resource = resources.removeValue(forKey: id), let ended = running.removeValue(forKey: resource) else {
            return nil
        }
        if ended.isOverdue { overdueCount -= 1 }
        if running.isEmpty { nextOverdue = nil }
        return (ended.job, ended.isWanted, ended.isOverdue)
    }

    /// From now on, only jobs that keep records are started.
    mutating func stop() {
        isStopping = true
    }

    /// Marks the jobs that have become overdue; returns their resources.
    mutating func findOverdue(at now: Now) -> [Resource] {
        guard let nextOverdue, now.boot >= nextOverdue else { return [] }
        let found = Array(running.filter { $0.value.overdueAt.map { now.boot >= $0 } == true }.keys)
        for resource in found { running[resource]?.isOverdue = true }
        overdueCount += found.count
        self.nextOverdue = running.values.compactMap(\.overdueAt).min()
        return found
    }

    // MARK: Failing

    /// Records that a job failed, and sets when its work is tried again.
    ///
    /// - Parameter isAtOnce: whether the cause may be gone already: then there is no pause.
    /// - Returns: whether this is news.
    mutating func fail(_ job: Job, _ failure: Failure, isAtOnce: Bool, at now: Now) -> Bool {
        let resource = job.resource
        let previous = attempts[resource]
        let failures = (previous?.failures ?? 0) + 1
        let action: Action? = if case .run(let action, _) = job.work { action } else { nil }
        let pause = RetryPause.pause(
            of: resource, after: failure,
            RetryPause.Circumstances(
                failures: failures, action: action, isAtOnce: isAtOnce, isReadOfTarget: job.work.isReadOfTarget,
                jitter: jitter("\(resource) \(failures)")))
        let isReminder = now.boot >= (previous?.loggedAt ?? now.boot) + LogEvent.reminder
        let isNews = (previous?.failure != failure || isReminder) && !isSaid(failure, of: resource, isReminder)
        attempts[resource] = FailedAttempts(
            failures: failures, failure: failure, since: previous?.since ?? now.wall,
            began: previous?.began ?? now.boot,
            notBefore: now.boot.advanced(milliseconds: pause), job: job.id, wasObservation: job.work.isObservation,
            loggedAt: isNews ? now.boot : previous?.loggedAt ?? now.boot,
            isLogged: isNews || previous?.isLogged == true)
        return isNews
    }

    /// The log event for the last failure of a resource; nil without one.
    func failing(_ resource: Resource, at now: Now) -> LogEvent? {
        guard let failed = attempts[resource] else { return nil }
        let pause = Seconds(roundingUp: max(0, failed.notBefore.milliseconds - now.boot.milliseconds))
        return .failing(resource, failed.failure, failures: failed.failures, retryAt: now.wall + pause)
    }

    /// Whether another event reports it. The probe and the run of an action fail for the same reason, and an unwritable
    /// `metrics_file` is a fault of the daemon.
    private func isSaid(_ failure: Failure, of resource: Resource, _ isReminder: Bool) -> Bool {
        switch resource {
        case .probe(let id): attempts[.action(id)]?.failure == failure
        case .action(let id): !isReminder && attempts[.probe(id)]?.failure == failure
        case .report, .fleet: attempts[.store]?.failure == failure
        case .metricsFile: true
        default: false
        }
    }

    /// Clears the failure of a resource, if there is one. Returns the log event, if the failure was logged.
    mutating func recover(_ resource: Resource) -> LogEvent? {
        guard let attempts = attempts.removeValue(forKey: resource) else { return nil }
        return attempts.isLogged ? .recovered(resource, attempts.failure) : nil
    }

    /// Retries failed work within a time, because its cause may be gone, or it has become urgent.
    mutating func retry(_ resource: Resource, within pause: Seconds = 0, at now: Now) {
        guard let notBefore = attempts[resource]?.notBefore else { return }
        attempts[resource]?.notBefore = min(notBefore, now.boot + pause)
    }

    /// Tries the work on a resource at once for a request.
    mutating func want(_ resource: Resource, at now: Now) {
        retry(resource, at: now)
        running[resource]?.isWanted = true
    }

    /// Continues under another configuration. Failed work is tried at once, without the old backoff, but after a pause that an
    /// API has requested.
    ///
    /// - Parameters:
    ///   - isKnown: whether a failure may still be one under this configuration.
    ///   - isSamePlace: whether it is the failure of a place behind an API that has not moved.
    mutating func adopt(where isKnown: (Resource) -> Bool, _ isSamePlace: (Resource) -> Bool, at now: Now) {
        attempts = attempts.filter { isKnown($0.key) }
        for (resource, failed) in attempts where failed.failure.retryAfter == nil || !isSamePlace(resource) {
            attempts[resource]?.notBefore = min(failed.notBefore, now.boot)
            attempts[resource]?.isBeforeReload = true
        }
        firstOfConfiguration = next
    }

    // MARK: Checks

    func checkInvariants() -> [String] {
        var broken: [String] = []
        if resources.count != running.count { broken.append("jobs without a resource") }
        for (resource, entry) in running {
            if entry.job.resource != resource || resources[entry.job.id] != resource {
                broken.append("\(resource) is held by a job on \(entry.job.resource)")
            }
            if entry.job.id >= next { broken.append("a job has the number of a later one") }
            if let moment = entry.overdueAt, nextOverdue.map({ $0 <= moment }) != true {
                broken.append("\(resource) is not watched")
            }
        }
        if overdueCount != running.values.count(where: \.isOverdue) { broken.append("overdue jobs are miscounted") }
        if !started.isEmpty { broken.append("started jobs are not carried out") }
        return broken
    }
}

extension Rotation {
    /// Clears the failure of a resource, if there is one.
    mutating func recover(_ resource: Resource) {
        if let event = jobs.recover(resource) { events.append(event) }
    }
}
