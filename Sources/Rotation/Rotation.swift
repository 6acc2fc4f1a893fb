package import AppleClientSecret
internal import Failures
package import Model

/// The core: inputs go in, work to do comes out. It holds no clock, file, random source or thread, so that the same
/// inputs at the same moments always give the same steps.
///
/// - Facts change in ``handle(_:at:)``: the entity that an input is about records it.
/// - ``plan(at:)`` decides what to do, in the order in which a secret is processed: clock and configuration, keys, the store,
///   each client's secret, its record, files and targets, actions, and at last health. The results of the jobs that a plan
///   starts come back as inputs. A second plan at the same moment starts nothing.
/// - A plan also chooses the current secret among the known ones, and forgets the failure of work that is no longer wanted.
///   Both follow from facts, so a second plan changes nothing.
/// - A plan covers everything touched since the last one and everything that has become due. Nothing else can have changed.
package struct Rotation: Sendable {
    var jobs: Jobs
    var clock: ClockTrust
    var configurationWatch: ConfigurationWatch
    var keys = KeyFiles()
    /// Everything known about each client.
    var clients = Clients()
    var files = FileStates()
    var targets = TargetStates()
    /// Of each action of a client.
    var runs: [ActionID: ActionRun] = [:]
    /// Actions that were not probed since the start or the last reload.
    var dueProbes: Set<ActionID> = []
    /// When the next secret may be verified, of all clients together.
    var requestsToApple = RateLimit.requestsToApple
    var stateUpkeep = StateUpkeep()
    var storePolling = StorePolling()
    var admissions = OwnAdmissions()
    var ownReport = OwnReport()
    var fleet = FleetReports()
    var faults = DaemonFaults()
    var metrics = MetricsFileUpkeep()
    var stateChangeActions = StateChangeActions()
    var waiting = PendingRequests()
    /// Whether every client was tried once.
    var isReady = false

    /// The scope of the next plan.
    var scope = PlanScope()
    /// Log events since the last plan.
    var events: [LogEvent] = []
    /// Changes since the last plan in the secrets that the credential socket serves.
    var served: [ServedSecret] = []

    /// From 0 to 1: where in the renewal window this machine renews.
    let renewalJitter: Double
    /// When the program was built: an earlier clock is wrong.
    let builtAt: WallTime
    let startedAt: WallTime
    /// Whether to bring everything up to date once and then end.
    let isOnce: Bool
    /// Whether a daemon ran before since the machine was started.
    let isRestart: Bool

    /// - Parameters:
    ///   - seed: of retries' jitter; fixed for a run.
    ///   - renewalJitter: from 0 to 1, fixed for a host.
    ///   - once: end when everything was tried and nothing runs.
    ///   - clockRun: the observations of the clock by an earlier run; nil if they are not known.
    ///   - isRestart: whether a daemon ran before since the machine was started. Applications may then have been started
    ///     without a file that is missing.
    package init(
        seed: UInt64, renewalJitter: Double, builtAt: WallTime, startedAt: WallTime, configurationPath: String,
        once: Bool = false, clockRun: ClockRun? = nil, isRestart: Bool = false
    ) {
        clock = ClockTrust(clockRun)
        jobs = Jobs(seed: seed)
        configurationWatch = ConfigurationWatch(path: configurationPath, startedAt: startedAt)
        self.renewalJitter = renewalJitter
        self.builtAt = builtAt
        self.startedAt = startedAt
        isOnce = once
        self.isRestart = isRestart
    }

    // MARK: State

    /// Records an input in the state. Decides nothing: the next plan does.
    package mutating func handle(_ input: Input, at now: Now) {
        switch input {
        case .configured(let configuration): adopt(configuration, at: now)
        case .configuredAsBefore(let configuration, let lines):
            adopt(configuration, at: now)
            configurationWatch.restrain()
            refuse(lines, LogEvent.startedAsBefore, now)
        case .changeNoticed(let resource): notice(resource, at: now)
        case .storeWatched(let isWatched): storePolling.setWatched(isWatched)
        case .storeServiceEnded: storeServiceEnded(at: now)
        case .storeCertificate(let expiresAt): noteStoreCertificate(expiresAt)
        case .finished(let id, let result): finish(id, result, at: now)
        case .faultRaised(let failure, let nextAttempt):
            raiseFault(failure, nextAttempt, at: now)
        case .faultCleared(let code): clearFault(code)
        case .stateLost:
            stateUpkeep.lose(next: jobs.next)
            for client in index.all { touch(client) }
        case .clockSet: touchEverything()
        case .asked(let request, let requestID): ask(request, requestID, at: now)
        case .stop:
            jobs.stop()
            // Its last content stays.
            if let path = configuration.metricsFile { jobs.retry(.metricsFile(path), at: now) }
            touchEverything()
        }
    }

    /// Adopts a configuration. Unchanged parts keep their state, but every key and every file is read again, unless it is being
    /// read already. Administrators reload to have the daemon do that.
    mutating func adopt(_ configuration: Configuration, at now: Now) {
        let old = configurationWatch.adopt(configuration, at: now)
        let change = ConfigurationChange(old: old, new: configuration, index: index, next: jobs.next, now: now)
        keys.adopt(configuration, old, next: jobs.next)
        clients.adopt(change)
        files.adopt(index.specs, next: jobs.next)
        let orphans = old.orphans(behindAPIsIn: configuration) { _, output in targets[output]?.known }
        targets.adopt(index)
        runs = index.actions.mapValues { [runs] in runs[$0.id] ?? ActionRun() }
        dueProbes = Set(index.probes.keys)
        stateUpkeep.adopt(index, old, orphans)
        storePolling.adopt(change)
        admissions.adopt(change)
        fleet.adopt(change)
        adoptReporting(change)
        stateChangeActions.keepOnly(configuration, at: now.boot)
        let isKnown = { [configuration, index] in index.knows($0, configuration) }
        waiting.adopt(index)
        adoptFailures(change, where: isKnown)
        scope.adopt(where: isKnown)
        events.append(.configured(clients: configuration.clients.count))
        adoptMetrics(change)
        touchEverything()
    }

    /// A failure lasts until its work succeeds, whatever is reloaded meanwhile. But it ends if a target has moved.
    private mutating func adoptFailures(_ change: ConfigurationChange, where isKnown: (Resource) -> Bool) {
        let samePlaces = change.samePlaces
        let verified = Set(index.all.filter { clients[$0].verification?.candidate != nil }.map(\.name))
        jobs.adopt(
            where: { resource in
                switch resource {
                case .target(let target): samePlaces.contains(target)
                // If Apple is no longer asked, no answer will end it.
                case .verification(let client): verified.contains(client)
                default: isKnown(resource)
                }
            },
            { resource in
                switch resource {
                case .target: true
                case .action(let id): change.index.targetsOfAction[id]?.isDisjoint(with: samePlaces) == false
                default: false
                }
            }, at: change.now)
    }

    /// Records a change notice. The last known state counts until a resource is read again, which waits until no program
    /// writes there.
    private mutating func notice(_ resource: Resource, at now: Now) {
        switch resource {
        case .configuration: configurationWatch.notice(at: now)
        case .key(let name):
            keys[name]?.reading.notice(at: now)
            jobs.retry(resource, at: now)
        case .source(let name):
            if let client = index[name] { clients[client].source?.reading.notice(at: now) }
            jobs.retry(resource, at: now)
        case .file(let path): noticeFile(path, at: now)
        case .store: storePolling.notice(jobs, at: now)
        case .metricsFile(let path) where path == configuration.metricsFile:
            metrics.notice()
            jobs.retry(resource, within: 1, at: now)
        default: break
        }
        touch(resource)
    }

    /// Reads a key, source or file again, also if a job is reading it now: that job may have missed a change.
    mutating func observeAgain(at resource: Resource) {
        switch resource {
        case .key(let name): keys[name]?.reading.readAgain(next: jobs.next)
        case .file(let path): files[path]?.reading.readAgain(next: jobs.next)
        case .source(let name):
            guard let client = index[name] else { return }
            clients[client].source?.reading.readAgain(next: jobs.next)
            if client.concernsStore { storePolling.readAgain(next: jobs.next) }
        case .store: storePolling.readAgain(next: jobs.next)
        default: return
        }
        // All clients that share a file wait for its content.
        touch(resource)
    }

    /// Records the result of a job.
    private mutating func finish(_ id: JobID, _ result: Result<Outcome, Failure>, at now: Now) {
        guard let (job, isWanted, wasOverdue) = jobs.finish(id) else { return }
        let lastFailure = jobs.attempts[job.resource]
        touch(job.resource)
        // Until now the store counted as one that does not answer.
        if wasOverdue, job.resource == .store { touchClientsOnStore() }
        switch result {
        // Neither a success nor a failure yet.
        case .success(.deploying): break
        case .success(let outcome):
            count(job, success: true)
            if let lastFailure, ends(lastFailure, outcome) { recover(job.resource) }
        case .failure(let failure):
            if !isOfStop(failure) { count(job, success: false) }
            // The work starts again under this configuration. An application that may be down does not wait for its turn.
            guard jobs.isCurrent(job) || isOfSamePlace(job) else { return runFinished(job, result, at: now) }
        }
        // Results of another store do not apply to the one that is configured now.
        guard !job.resource.isOfStore || storePolling.isOfThisStore(job) else { return }
        switch job.work {
        case .readConfiguration, .checkConfiguration: return configurationFinished(job, result, at: now)
        case .readKey: keyFinished(job, result, at: now)
        case .mint: mintFinished(job, result, at: now)
        case .readSource: sourceFinished(job, result)
        case .readStore: storeFinished(job, result, at: now)
        case .putInStore, .putRollout: putFinished(job, result, at: now)
        case .putReport: reportFinished(job, result, at: now)
        case .readReports, .forgetReport: fleetFinished(job, result, at: now)
        case .verify:
            guard let failure = verificationFinished(job, result, at: now) else { return }
            return fail(job, failure, isWanted, at: now)
        case .observe, .publish: fileFinished(job, result, at: now)
        case .push, .readTarget:
            if let failure = targetFinished(job, result, at: now) { return fail(job, failure, isWanted, at: now) }
        case .recall, .keep: recordFinished(job, result, at: now)
        case .tidyRecords: tidyingFinished(job, result, at: now)
        case .run where job.resource.isStateChangeAction, .recallReportedStates, .keepReportedStates:
            stateChangeActionFinished(job, result, at: now)
        case .run: runFinished(job, result, at: now)
        case .probe: probeFinished(job, result, before: lastFailure, at: now)
        case .writeMetrics: metricsFinished(job, result)
        // If it cannot be removed it stays, as do all files of a former configuration.
        case .removeMetrics: return
        }
        if case .failure(let failure) = result { fail(job, failure, isWanted, at: now) }
    }

    /// Whether a job was about a place behind an API that no reload has moved. Its failure counts: an API may take longer to
    /// fail than the time between two reloads. Any other failure under an earlier configuration does not count, because the
    /// work starts again under this one.
    private func isOfSamePlace(_ job: Job) -> Bool {
        switch job.work {
        case .push(_, _, let output, _), .readTarget(_, _, let output): targets[output] != nil
        default: false
        }
    }

    /// Whether an outcome ends the failure of its resource. A file that was read back may still not be writable, and an API
    /// that did not keep a secret fails until it shows one.
    private func ends(_ failed: FailedAttempts, _ outcome: Outcome) -> Bool {
        switch outcome {
        case .observed: failed.wasObservation
        case .pushed(let reading), .targetRead(let reading):
            reading.holds != false || failed.failure.code != .pushNotKept
        default: true
        }
    }

    /// Whether the work ended because the daemon stops: that is no failure of the work.
    private func isOfStop(_ failure: Failure) -> Bool { jobs.isStopping && failure.isCancelled }

    private mutating func fail(_ job: Job, _ failure: Failure, _ isWanted: Bool, at now: Now) {
        guard !isOfStop(failure) else { return }
        // A key's file that changed while it was read may hold a usable key already.
        let isReplaced =
            if case .readKey(let name, _) = job.work { keys[name]?.reading.wasNoticed == true } else { false }
        let isNews = jobs.fail(
            job, keepingLink(failure, of: job),
            isAtOnce: isReplaced || isWanted && waiting.isWaiting || !jobs.isCurrent(job), at: now)
        // The plan of the resource sets the wake.
        var timer = WakeTimer(now: now)
        shortenPause(of: job.resource, &timer)
        if isNews, let event = jobs.failing(job.resource, at: now) { events.append(event) }
    }

    /// The executor answers each kind of work with its own outcome: any other is a bug.
    func unexpected(_ outcome: Outcome, of job: Job) {
        assertionFailure("\(job.work) ended as \(outcome)")
    }
}
