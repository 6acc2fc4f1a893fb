import AppleClientSecret
import Rotation

extension Resource {
    /// The action of `on_state_change` that is meant, if one is.
    var stateChangeActionID: ActionID? {
        if case .stateChangeAction(let id) = self { id } else { nil }
    }
}

/// What somebody remembers who sees how things stand and what people are told of it by `on_state_change`.
struct NoticeWatch {
    /// How things stand, but for whether people can be told, and since when.
    private var health: HealthState = .ok
    private var since: Int64 = 0
    private var starts: [ActionID: [Int64]] = [:]
    private var lastStart: [ActionID: WallTime] = [:]
    private var failing: Set<ActionID> = []
    /// What each action was last run for with success; nil where nobody can know any more.
    private var told: [ActionID: HealthState] = [:]
    /// Who has something to tell that had lasted long enough, and may do so when it is over.
    private var owed: Set<ActionID> = []
    private let actions: [ActionID]
    private var disturbedAt: Int64 = 0
    /// Whether the clock was set since the daemon was born: when something was told cannot be known after its death.
    private var wasClockSet = false

    /// The slowest retry of a program, on top of the hour in which it may have run four times.
    private static let bound: Int64 = (3600 + 900 + 120) * 1000

    init(_ configuration: Configuration) {
        actions = configuration.onStateChange.map(\.id)
        for action in configuration.onStateChange { told[action.id] = .ok }
    }

    mutating func see(_ snapshot: Snapshot, at boot: Int64) {
        let worst = snapshot.clients.map(\.health).max() ?? .ok
        let new = snapshot.configuration.error != nil || !snapshot.clockTrusted ? max(worst, .degraded) : worst
        if new != health {
            if boot - since >= 30_000 { owed.formUnion(actions.filter { told[$0] != health }) }
            since = boot
        }
        health = new
    }

    mutating func disturb(at boot: Int64) {
        disturbedAt = boot
    }

    mutating func setClock(isAlive: Bool) {
        wasClockSet = isAlive
        if !isAlive { starts = [:] }
    }

    /// The daemon is dead: it may not have kept what it told, and when it started what.
    mutating func forget(keeping kept: ReportedStates, at boot: Int64) {
        told = told.filter { $0.value == kept.health }
        // A restart grants nobody four more, as far as the state directory knows of them.
        starts = starts.filter { !wasClockSet && kept.starts[$0.key]?.last == lastStart[$0.key] }
        wasClockSet = false
        // What was still owed is told at once.
        failing = kept.owed
        // It is told of how things stand once every client was tried.
        since = boot
    }

    /// The state directory does not know any more what was told.
    mutating func forgetTold() {
        told = [:]
        lastStart = [:]
    }

    mutating func start(_ id: ActionID, isAged: Bool, at now: Now) throws {
        let boot = now.boot.milliseconds
        let recent = (starts[id] ?? []).filter { $0 > boot - 3_600_000 }
        if recent.count >= 4 {
            throw Violation(.stateChangeActions, "\(id) is run more than four times within an hour")
        }
        // What was owed for longer may tell of what is over already.
        if recent.isEmpty, !failing.contains(id), !owed.contains(id), !isAged, boot - since < 30_000 {
            throw Violation(.stateChangeActions, "\(id) tells of \(health) after \(boot - since) ms")
        }
        owed.remove(id)
        starts[id] = recent + [boot]
        lastStart[id] = now.wall
    }

    mutating func finish(_ id: ActionID, _ action: Action, success: Bool) {
        guard success else {
            failing.insert(id)
            return
        }
        failing.remove(id)
        guard case .exec(let arguments, _) = action else { return }
        told[id] = arguments.last.flatMap(HealthState.init(rawValue:))
    }

    /// What has lasted long enough was told.
    mutating func check(_ outside: Outside, at boot: Int64) throws {
        if outside.broken.isStateUnusable { forgetTold() }
        guard boot - max(since, disturbedAt) > Self.bound else { return }
        for action in outside.configuration.onStateChange where outside.broken.actions[action.id] == nil {
            if let told = told[action.id], told != health {
                throw Violation(.stateChangeActions, "\(action.id) has told of \(told) last, and it is \(health)")
            }
        }
    }
}
