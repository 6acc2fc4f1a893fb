import AppleClientSecret
import Model
import Rotation

extension Resource {
    /// The id of the `on_state_change` action, if the resource is one.
    var stateChangeActionID: ActionID? {
        if case .stateChangeAction(let id) = self { id } else { nil }
    }
}

/// An observer of health and of what `on_state_change` reports of it.
struct NoticeWatch: ~Copyable {
    /// The health, apart from whether operators can be notified, and since when.
    private var health: HealthState = .ok
    private var since: Int64 = 0
    private var starts: [ActionID: [Int64]] = [:]
    private var lastStart: [ActionID: WallTime] = [:]
    private var failing: Set<ActionID> = []
    /// The health that each action last reported successfully; nil when that is no longer known.
    private var told: [ActionID: HealthState] = [:]
    /// Actions with a report about a state that lasted long enough; they may still make it when it is over.
    private var owed: Set<ActionID> = []
    private let actions: [ActionID]
    private var disturbedAt: Int64 = 0
    /// Whether the clock was set since the daemon started: after its death the times of its reports are unknown.
    private var wasClockSet = false

    /// Milliseconds of a program's slowest retry, on top of the hour in which it may have run four times.
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

    /// Whether the health has been the same for so long that it was reported.
    func isSettled(at boot: Int64) -> Bool { boot - since > Self.bound }

    /// The actions that have yet to report: another health than they last told of, or what they have failed to tell.
    ///
    /// - Parameter kept: what was reported by the state directory. It counts for an action of which nothing is known, and says
    ///   which failed reports the daemon still owes.
    func news(since kept: ReportedStates) -> [ActionID] {
        actions.filter { id in
            let isOwed = kept.owed.contains(id) && (failing.contains(id) || owed.contains(id))
            return isOwed || told[id, default: kept.health] != health
        }
    }

    mutating func disturb(at boot: Int64) {
        disturbedAt = boot
    }

    mutating func setClock(isAlive: Bool) {
        wasClockSet = isAlive
        if !isAlive { starts = [:] }
    }

    /// The daemon is dead: it may not have kept what it reported, or when it started which action.
    mutating func forget(keeping kept: ReportedStates, at boot: Int64) {
        told = told.filter { $0.value == kept.health }
        // A restart allows no four further runs, where the state directory knows the earlier ones.
        starts = starts.filter { entry in
            !wasClockSet && kept.starts[entry.key]?.last.map { $0 == lastStart[entry.key] } ?? false
        }
        wasClockSet = false
        // Reports that were still owed are made at once.
        failing = kept.owed
        // The health is reported once every client was tried.
        since = boot
    }

    /// The state directory no longer knows what was reported.
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
        // A report that was owed for longer may be about a state that is over.
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

    /// Every state that lasted long enough was reported.
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
