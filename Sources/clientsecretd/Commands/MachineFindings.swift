import Daemon
import Glibc
import Linux
import Rotation

/// What every form of `status` shows besides the daemon's own document: what systemd says of the units, and what only root
/// sees.
struct MachineFindings: Equatable {
    /// What is wrong with systemd's sockets and what helps, a block for each.
    private(set) var failedSockets: [[String]] = []
    /// A sandbox that is weaker than the shipped one, and what hides outputs; a line for each.
    private(set) var warnings: [String] = []

    /// All of it, a block for each.
    var blocks: [[String]] { failedSockets + warnings.map { [$0] } }

    /// Nothing was found.
    init() {}

    /// Blocks.
    ///
    /// - Parameters:
    ///   - socket: where the daemon is asked.
    ///   - configuration: the path of its configuration; nil where that is not known, or nothing is to be looked for that
    ///     hides its outputs.
    init(ofDaemonAt socket: String, configuration: String?) {
        failedSockets = FailedSockets.problems(ofDaemonAt: socket)
        guard geteuid() == 0 else { return }
        if SystemManager.isSystemd, let weakness = UnitsInEffect()?.weakness { warnings.append("warning: \(weakness)") }
        guard let configuration else { return }
        try? Hardening.forbidInspection()
        warnings += HidingWarnings.found(byConfiguration: configuration).map(\.description)
    }
}
