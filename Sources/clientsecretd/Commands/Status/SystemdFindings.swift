import Daemon
import Failures
import Glibc
import Linux

/// The part of every form of `status` that the daemon's document lacks: systemd's facts about the units.
struct SystemdFindings: Equatable {
    /// Problems of systemd's sockets and their remedies, a block for each.
    private(set) var failedSockets: [[CommandMessage]] = []
    /// A sandbox that is weaker than the shipped one; a line for each.
    private(set) var warnings: [String] = []

    /// All of it, a block for each.
    var blocks: [[CommandMessage]] { failedSockets + warnings.map { [CommandMessage($0)] } }

    /// Nothing was found.
    init() {}

    /// Asks systemd, which must not take long.
    ///
    /// - Parameter socket: the daemon's socket.
    init(ofDaemonAt socket: String) {
        failedSockets = FailedSockets.problems(ofDaemonAt: socket)
        guard geteuid() == 0, SystemManager.isSystemd, let weakness = UnitsInEffect()?.weakness else { return }
        warnings.append("warning: \(weakness)")
    }
}
