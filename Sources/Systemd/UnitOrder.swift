/// What systemd is asked to do with a unit.
package enum UnitOrder: Hashable, Sendable {
    case start
    /// Restarts what runs.
    case tryRestart
    case reload
    /// Reloads what runs, or restarts it where it cannot reload.
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

    /// What polkit's rules know it by, as `verb` of the action `org.freedesktop.systemd1.manage-units`.
    private var verb: String {
        switch self {
        case .start: "start"
        case .tryRestart: "try-restart"
        case .reload: "reload"
        case .reloadOrTryRestart: "reload-or-try-restart"
        case .signal: "kill"
        }
    }

    /// Everything that is asked of systemd to have it carried out, whatever the unit does by then: systemd restarts what
    /// runs, and what has failed is started.
    var parts: [UnitOrder] { isRestart ? [self, .start] : [self] }

    /// The verbs of ``parts``.
    package var verbs: [String] { parts.map(\.verb) }

    /// Whether systemd makes a job of it, which a masked unit cannot have.
    var isJob: Bool {
        if case .signal = self { false } else { true }
    }

    /// Whether there is nothing to do for a unit that is stopped.
    var isForRunning: Bool { self != .start }

    /// Whether a unit that has failed is started by it.
    var isRestart: Bool { self == .tryRestart || self == .reloadOrTryRestart }
}
