import AppleClientSecret
import Model

/// Which states `on_state_change` is to report, and which it has reported.
///
/// - A change is reported once it has lasted; a report includes changes that have not lasted yet.
/// - Each action reports the last change only, and is started a few times an hour at most.
/// - The state directory keeps the reported states. Nothing is reported before the daemon has tried to read them. It retries
///   until it has read them or reported something new.
struct StateChangeActions: Sendable {
    /// A change is reported once it has lasted this long: not a renewal late by seconds or a file repaired at once.
    static let settleTime: Seconds = 30
    /// How often one action may be started within ``interval``.
    static let limit = 4
    static let interval: Seconds = 3600
    private static let unspent = RateLimit(limit, in: interval)

    private(set) var reported = ReportedStates()
    /// The reported states, as the state directory is known to hold them. If they cannot be read, the daemon continues as if
    /// nothing had been reported: an unreadable directory must silence no alert.
    fileprivate var kept = Persisted(ReportedStates())
    private(set) var health: HealthState = .ok
    private var healthSince: BootTime?
    /// Of the clients that were seen since the start.
    private var stages: [ClientName: ExpiryStage] = [:]
    /// Clients whose stage is worse than reported, and since when there are any.
    private var unreported: Set<ClientName> = []
    private var unreportedSince: BootTime?
    /// The number of changes reported since the start.
    private var change = 0
    /// The change for which each action was last started, and how often it was started.
    private var runs: [ActionID: (change: Int, starts: RateLimit)] = [:]

    // MARK: The current states

    mutating func see(_ health: HealthState, at now: BootTime) {
        if healthSince == nil || health != self.health { healthSince = now }
        self.health = health
    }

    mutating func see(_ stage: ExpiryStage, of client: ClientName, at now: BootTime) {
        stages[client] = stage
        compare(stage, of: client, at: now)
    }

    private mutating func compare(_ stage: ExpiryStage, of client: ClientName, at now: BootTime) {
        // A new secret was delivered: its stages are reported again.
        if stage < reported.stages[client, default: .fresh] { reported.stages[client] = stage == .fresh ? nil : stage }
        if stage > reported.stages[client, default: .fresh] {
            unreported.insert(client)
            unreportedSince = unreportedSince ?? now
        } else if unreported.remove(client) != nil, unreported.isEmpty {
            unreportedSince = nil
        }
    }

    /// Forgets clients and actions that are no longer configured.
    mutating func keepOnly(_ configuration: Configuration, at now: BootTime) {
        let isKnown = { configuration.clients[$0] != nil }
        stages = stages.filter { isKnown($0.key) }
        reported.stages = reported.stages.filter { isKnown($0.key) }
        unreported = unreported.filter(isKnown)
        if unreported.isEmpty { unreportedSince = nil }
        let actions = Set(configuration.onStateChange.map(\.id))
        reported.owed.formIntersection(actions)
        reported.starts = reported.starts.filter { actions.contains($0.key) }
        runs = runs.filter { actions.contains($0.key) }
    }

    // MARK: The reported states

    /// Continues from the states kept in the state directory, unless it answers only after a new report.
    ///
    /// - Parameter job: the job that read them.
    mutating func recall(_ record: ReportedStates, _ configuration: Configuration, by job: JobID, at now: Now) {
        kept.recalled(record, by: job)
        guard change == 0 else { return }
        reported = record
        for (action, moments) in record.starts {
            // Clamped to an hour, all that counts: the clock may have been set since. Less one second, because the
            // difference of two times in whole seconds may be one too many and would allow a fifth start.
            let ago = moments.map { min(max(now.wall - $0 - 1, 0), Self.interval) }
            var starts = Self.unspent
            for ago in ago { starts.note(at: now.boot + Seconds(-ago.count)) }
            runs[action] = (0, starts)
        }
        keepOnly(configuration, at: now.boot)
        for (client, stage) in stages { compare(stage, of: client, at: now.boot) }
    }

    /// Whether to read the states reported before. States reported since the start take precedence.
    var mustRecall: Bool { !kept.wasRead && change == 0 }

    /// Whether an unreported change has lasted long enough.
    func hasNews(_ timer: inout WakeTimer) -> Bool {
        // Evaluates both, so that both are remembered.
        let hasChanged =
            health != reported.health && healthSince.map { timer.reached($0 + Self.settleTime) } == true
        let hasAged = unreportedSince.map { timer.reached($0 + Self.settleTime) } == true
        return hasChanged || hasAged
    }

    /// Counts the current states as reported and makes every action due.
    mutating func report(_ actions: [ActionID]) {
        change += 1
        reported.health = health
        for client in unreported { reported.stages[client] = stages[client] }
        unreported = []
        unreportedSince = nil
        reported.owed = Set(actions)
    }

    /// Whether an action has yet to report and may be started.
    func mayStart(_ action: ActionID, _ timer: inout WakeTimer) -> Bool {
        reported.owed.contains(action) && runs[action]?.starts.admits(&timer) != false
    }

    mutating func started(_ action: ActionID, at now: Now) {
        var starts = runs[action]?.starts ?? Self.unspent
        starts.note(at: now.boot)
        runs[action] = (change, starts)
        reported.starts[action] = (reported.starts[action] ?? []).suffix(Self.limit - 1) + [now.wall]
    }

    /// Records that an action has succeeded. A change during its run is still to be reported.
    mutating func succeeded(_ action: ActionID) {
        if runs[action]?.change == change { reported.owed.remove(action) }
    }

    func checkInvariants() -> [String] {
        unreported.isEmpty != (unreportedSince == nil) ? ["stages to report, and no beginning"] : []
    }
}

extension Rotation {
    mutating func stateChangeActionFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch (job.work, result) {
        case (.run(let action, _), .success(.ran)):
            guard !isCutOff(action) else { break }
            if case .stateChangeAction(let id) = job.resource { stateChangeActions.succeeded(id) }
            events.append(.ranStateChangeAction(action.id))
        case (.recallReportedStates, .success(.recalledReportedStates(let states))):
            stateChangeActions.recall(states, configuration, by: job.id, at: now)
        case (.recallReportedStates, .failure):
            stateChangeActions.kept.notRecalled()
        case (.keepReportedStates, .success(.keptReportedStates(let states))):
            stateChangeActions.kept.kept(states, by: job.id)
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Runs `on_state_change` for changes that have lasted.
    mutating func planStateChangeActions(_ timer: inout WakeTimer) {
        let now = timer.now
        let actions = configuration.onStateChange
        // A single run reports the state by its exit code instead.
        guard !isOnce, !actions.isEmpty else { return }
        if stateChangeActions.mustRecall { jobs.start(.recallReportedStates, on: .state, &timer) }
        guard stateChangeActions.kept.wasTried || jobs.isOverdue(.state) else { return }
        let isRestrained = configurationWatch.isRestrained
        stateChangeActions.see(healthWithDaemon(at: now), at: now.boot)
        // Until every client was tried, the state is unknown.
        if isReady, !jobs.isStopping, !isRestrained {
            // A report includes changes that have not lasted yet, so their moment is no reason to wake.
            if timer.met({ stateChangeActions.hasNews(&$0) }) { stateChangeActions.report(actions.map(\.id)) }
        }
        for action in actions where !isRestrained && jobs[.stateChangeAction(action.id)] == nil {
            guard stateChangeActions.mayStart(action.id, &timer) else { continue }
            let work = Work.run(action.naming(stateChangeActions.reported.health), covering: [:])
            if jobs.start(work, on: .stateChangeAction(action.id), &timer) {
                stateChangeActions.started(action.id, at: now)
            }
        }
        let reported = stateChangeActions.reported
        if !stateChangeActions.mustRecall, !stateChangeActions.kept.holds(reported, since: stateUpkeep.countsFrom) {
            jobs.start(.keepReportedStates(reported), on: .state, &timer)
        }
    }

    /// The failure that prevents reports, if there is one.
    var stateChangeFailure: (Resource, FailedAttempts)? {
        for resource in index.stateChangeResources {
            if let attempts = jobs.attempts[resource] { return (resource, attempts) }
        }
        return nil
    }

    /// Problems that probes found and that would prevent reports.
    var noticeProblems: [Failure] {
        index.stateChangeResources.compactMap { resource in
            guard case .probe = resource else { return nil }
            return jobs.attempts[resource]?.failure
        }
    }
}
