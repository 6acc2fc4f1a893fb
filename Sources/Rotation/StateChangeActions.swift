import AppleClientSecret

/// What there is to tell people of by `on_state_change`, and what they were told.
struct StateChangeActions: Sendable {
    /// What has not lasted this long is not told: a renewal that is late by seconds, a file repaired at once.
    static let lasting: Seconds = 30
    /// How often one action may be started within ``pace``.
    static let limit = 4
    static let pace: Seconds = 3600

    /// Whether the state directory was asked what was told before.
    var wasRecalled = false
    private(set) var told = ReportedStates()
    /// What the state directory is known to hold.
    var kept = ReportedStates()
    /// The job by which ``kept`` came to be known.
    var keptBy = JobID(number: 0)
    private(set) var health: HealthState = .ok
    private var healthSince: BootTime?
    private var stages: [ClientName: Stage] = [:]
    /// Clients whose secret is further on than was told, and since when there are any.
    private var untold: Set<ClientName> = []
    private var untoldSince: BootTime?
    /// Grows with every change that is told.
    private var change = 0
    /// For which change each action was last started, and when.
    private var runs: [ActionID: (change: Int, at: [BootTime])] = [:]

    // MARK: What is

    mutating func see(_ health: HealthState, at now: BootTime) {
        if healthSince == nil || health != self.health { healthSince = now }
        self.health = health
    }

    mutating func see(_ stage: Stage, of client: ClientName, at now: BootTime) {
        stages[client] = stage == .fresh ? nil : stage
        // A new secret was delivered: its life is told of anew.
        if stage < told.stages[client, default: .fresh] { told.stages[client] = stages[client] }
        compare(client, at: now)
    }

    private mutating func compare(_ client: ClientName, at now: BootTime) {
        if stages[client, default: .fresh] > told.stages[client, default: .fresh] {
            untold.insert(client)
            untoldSince = untoldSince ?? now
        } else if untold.remove(client) != nil, untold.isEmpty {
            untoldSince = nil
        }
    }

    /// Forgets clients and actions that are not configured any more.
    mutating func keepOnly(_ configuration: Configuration, at now: BootTime) {
        let isKnown = { configuration.clients[$0] != nil }
        stages = stages.filter { isKnown($0.key) }
        told.stages = told.stages.filter { isKnown($0.key) }
        untold = untold.filter(isKnown)
        if untold.isEmpty { untoldSince = nil }
        let actions = Set(configuration.onStateChange.map(\.id))
        told.owed.formIntersection(actions)
        told.starts = told.starts.filter { actions.contains($0.key) }
        runs = runs.filter { actions.contains($0.key) }
    }

    // MARK: What was told

    /// Goes on from what the state directory kept, unless it answers so late that something was told since.
    mutating func recall(_ record: ReportedStates, _ configuration: Configuration, at now: Now) {
        wasRecalled = true
        kept = record
        guard change == 0 else { return }
        told = record
        for (action, moments) in record.starts {
            // A clock that was set since may make them any time ago; an hour is all that counts. Of two moments in whole
            // seconds the difference may be one too many, and nobody is told a fifth time because of that.
            let ago = moments.map { min(max(now.wall - $0 - 1, 0), Self.pace) }
            runs[action] = (0, ago.map { now.boot + Seconds(-$0.count) })
        }
        keepOnly(configuration, at: now.boot)
        for client in Set(stages.keys).union(untold) { compare(client, at: now.boot) }
    }

    /// Whether something has changed and lasted that was not told.
    func hasNews(_ deadlines: inout Deadlines) -> Bool {
        // Both are asked, so that both are remembered.
        let hasChanged = health != told.health && healthSince.map { deadlines.reached($0 + Self.lasting) } == true
        let hasAged = untoldSince.map { deadlines.reached($0 + Self.lasting) } == true
        return hasChanged || hasAged
    }

    /// Has every action tell how things stand now.
    mutating func tell(_ actions: [ActionID]) {
        change += 1
        told.health = health
        for client in untold { told.stages[client] = stages[client] }
        untold = []
        untoldSince = nil
        told.owed = Set(actions)
    }

    /// Whether an action has something to tell and may be started.
    func mayStart(_ action: ActionID, _ deadlines: inout Deadlines) -> Bool {
        guard told.owed.contains(action) else { return false }
        guard let starts = runs[action]?.at, starts.count >= Self.limit else { return true }
        return deadlines.reached(starts[starts.count - Self.limit] + Self.pace)
    }

    mutating func started(_ action: ActionID, at now: Now) {
        runs[action] = (change, (runs[action]?.at ?? []).suffix(Self.limit - 1) + [now.boot])
        told.starts[action] = (told.starts[action] ?? []).suffix(Self.limit - 1) + [now.wall]
    }

    /// Takes in that an action has succeeded; what has changed while it ran is still to be told.
    mutating func succeeded(_ action: ActionID) {
        if runs[action]?.change == change { told.owed.remove(action) }
    }
}

extension Action {
    /// What an action of `on_state_change` comes to, whatever the state.
    package var forEachState: [Action] { HealthState.allCases.map(naming) }

    /// The action with the state in the place of every `%s` in the unit's name or the program's arguments.
    package func naming(_ health: HealthState) -> Action {
        func named(_ text: String) -> String {
            text.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: health.rawValue)
        }
        return switch self {
        case .unit(let verb, let unit): .unit(verb: verb, unit: named(unit))
        case .signal(let unit, let signal): .signal(unit: named(unit), signal: signal)
        // Never the program itself: it was judged under the name that stands there.
        case .exec(let arguments, let timeout):
            .exec(arguments: arguments.prefix(1) + arguments.dropFirst().map(named), timeout: timeout)
        }
    }
}

extension Rotation {
    /// How everything stands, but for whether people can be told of it: else an action that fails now and then would
    /// be its own reason to run.
    var health: HealthState {
        let worst = HealthState.allCases.last { healthCounts[$0, default: 0] > 0 } ?? .ok
        return refusal != nil || isRestrained || clock.failure != nil || !daemonFaults.isEmpty
            ? max(worst, .degraded) : worst
    }

    /// Has `on_state_change` run for what has changed and lasted.
    mutating func planStateChangeActions(at now: Now, _ step: inout Step) {
        let actions = world.configuration.onStateChange
        // Whoever runs everything once learns how it stands from the exit code.
        guard !isOnce, !actions.isEmpty else { return }
        var deadlines = Deadlines(now: now)
        defer { wakes[.state] = deadlines.wake }
        guard stateChangeActions.wasRecalled || isOverdue(.state) else {
            start(.recallReportedStates, on: .state, &deadlines, &step)
            return
        }
        stateChangeActions.see(health, at: now.boot)
        // Until every client was tried nothing can be said of how things stand.
        if isReady, !isStopping, !isRestrained {
            var patience = deadlines
            // What is told with the rest is no reason to wake any more.
            if stateChangeActions.hasNews(&patience) {
                stateChangeActions.tell(actions.map(\.id))
            } else {
                deadlines = patience
            }
        }
        for action in actions where !isRestrained && world.running[.stateChangeAction(action.id)] == nil {
            guard stateChangeActions.mayStart(action.id, &deadlines) else { continue }
            let work = Work.run(action.naming(stateChangeActions.told.health), covering: [:])
            if start(work, on: .stateChangeAction(action.id), &deadlines, &step) {
                stateChangeActions.started(action.id, at: now)
            }
        }
        if stateChangeActions.told != stateChangeActions.kept || stateChangeActions.keptBy < firstLasting {
            start(.keepReportedStates(stateChangeActions.told), on: .state, &deadlines, &step)
        }
    }

    /// What keeps people from being told, if something does.
    var stateChangeFailure: (Resource, Attempts)? {
        stateChangeResources { [.stateChangeAction($0.id)] + $0.forEachState.map { .probe($0.id) } }
            .compactMap { resource in world.attempts[resource].map { (resource, $0) } }.first
    }

    /// What would keep people from being told.
    var noticeObstacles: [Failure] {
        stateChangeResources { $0.forEachState.map { .probe($0.id) } }.compactMap { world.attempts[$0]?.failure }
    }

    private func stateChangeResources(_ resources: (Action) -> [Resource]) -> [Resource] {
        var all: [Resource] = []
        for resource in world.configuration.onStateChange.flatMap(resources) where !all.contains(resource) {
            all.append(resource)
        }
        return all
    }
}
