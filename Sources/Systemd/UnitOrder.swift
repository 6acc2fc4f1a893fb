import Glibc
import Linux

/// The orders to systemd about a unit.
package enum UnitOrder: Hashable, Sendable {
    case start
    /// Restarts it if it runs.
    case tryRestart
    case reload
    /// Reloads it if it runs, or restarts it if it cannot reload.
    case reloadOrTryRestart
    /// A signal for the main process.
    case signal(Int32)

    /// The method of `org.freedesktop.systemd1.Manager`.
    var method: String {
        switch self {
        case .start: "StartUnit"
        case .tryRestart: "TryRestartUnit"
        case .reload: "ReloadUnit"
        case .reloadOrTryRestart: "ReloadOrTryRestartUnit"
        case .signal: "KillUnit"
        }
    }

    /// Its name in polkit's rules, as `verb` of the action `org.freedesktop.systemd1.manage-units`.
    private var verb: String {
        switch self {
        case .start: "start"
        case .tryRestart: "try-restart"
        case .reload: "reload"
        case .reloadOrTryRestart: "reload-or-try-restart"
        case .signal: "kill"
        }
    }

    /// All orders that this one may turn into, depending on the unit's state by then: a restart becomes a start if the
    /// unit has failed.
    var parts: [UnitOrder] { isRestart ? [self, .start] : [self] }

    /// The verbs of ``parts``.
    package var verbs: [String] { parts.map(\.verb) }

    /// Whether systemd makes a job of it, which it refuses for a masked unit.
    var isJob: Bool {
        if case .signal = self { false } else { true }
    }

    /// Whether it does nothing to a stopped unit.
    var isForRunning: Bool { self != .start }

    /// Whether it is a signal that ends programs, after any cleanup.
    var endsPrograms: Bool {
        if case .signal(let number) = self { [SIGTERM, SIGINT, SIGQUIT, SIGKILL].contains(number) } else { false }
    }

    /// Whether it is a restart, which starts a failed unit.
    var isRestart: Bool { self == .tryRestart || self == .reloadOrTryRestart }
}
