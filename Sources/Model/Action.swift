package import AppleClientSecret
internal import Failures

/// Work that the daemon does after a secret has changed, so that applications read the new one.
package enum Action: Hashable, Sendable {
    case unit(verb: UnitVerb, unit: String)
    /// A signal, by name such as `SIGHUP`, to the unit's main process.
    case signal(unit: String, signal: String)
    /// A program and its arguments, without a shell.
    case exec(arguments: [String], timeout: Seconds)
    /// Deploy a project behind an API again, so that it runs with the secrets pushed to these targets. It is no item of a list:
    /// it comes from `redeploy: true` of a target.
    case redeploy(project: String, targets: [TargetName])

    package enum UnitVerb: String, Hashable, Sendable, CaseIterable {
        case restart
        case reload
        case reloadOrRestart = "reload_or_restart"
        case start
    }

    /// How long a project's deployment may take. Vercel ends a build after 45 minutes (https://vercel.com/docs/limits); before that
    /// it may have waited for others.
    package static let longestDeployment: Seconds = 3600

    /// Whether it deploys a project again. That project reads the pushed secrets, and no file.
    package var isRedeployment: Bool { if case .redeploy = self { true } else { false } }

    /// The unit that systemd is given an order for; nil for another action.
    package var unit: String? {
        switch self {
        case .unit(_, let unit), .signal(let unit, _): unit
        case .exec, .redeploy: nil
        }
    }

    /// The unit that may read a secret; nil for one that is only started, or another action.
    package var reader: String? { if case .unit(.start, _) = self { nil } else { unit } }

    /// Identifies the action regardless of its timeout: two clients with the same action share one run, and a changed
    /// timeout is not a new action.
    package var id: ActionID {
        switch self {
        case .unit(let verb, let unit): ActionID("\(verb.rawValue) \(unit)")
        case .signal(let unit, let signal): ActionID("signal \(signal) \(unit)")
        // Quoted, so that different argument lists never give the same text.
        case .exec(let arguments, _): ActionID("exec " + arguments.map(ShellWord.quoted).joined(separator: " "))
        case .redeploy(let project, _): ActionID("redeploy \(project)")
        }
    }
}

extension Action {
    /// An action of `on_state_change` as it runs for each state.
    package var forEachState: [Action] { HealthState.allCases.map(naming) }

    /// The action with the state in place of every `%s` in the unit's name or the program's arguments.
    package func naming(_ health: HealthState) -> Action {
        func named(_ text: String) -> String {
            text.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: health.rawValue)
        }
        switch self {
        case .unit(let verb, let unit): return .unit(verb: verb, unit: named(unit))
        case .signal(let unit, let signal): return .signal(unit: named(unit), signal: signal)
        // Never the program itself: the configuration was checked with its path as written.
        case .exec(let arguments, let timeout):
            return .exec(arguments: arguments.prefix(1) + arguments.dropFirst().map(named), timeout: timeout)
        case .redeploy: return self
        }
    }
}

/// An action's identity and display name: `restart myapp.service`, `exec /usr/local/bin/after-rotation --quiet`.
package struct ActionID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    package let description: String

    /// The unknown action that delivered a secret which was found in an output. No real action has this name.
    package static let unknown = ActionID("unknown")

    package init(_ description: String) {
        self.description = description
    }

    /// The operation of systemd, and its unit; nil for another action.
    package var order: (verb: Action.UnitVerb, unit: String)? {
        let words = description.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let verb = Action.UnitVerb(rawValue: words[0]) else { return nil }
        return (verb, words[1])
    }

    package static func < (left: ActionID, right: ActionID) -> Bool {
        left.description < right.description
    }
}

extension ActionID: JSONString {}
