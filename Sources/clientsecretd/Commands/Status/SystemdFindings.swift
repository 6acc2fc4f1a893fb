import Daemon
import Failures
import Glibc
import Linux

/// The part of every form of `status` that the daemon's document lacks: systemd's facts about the units.
enum SystemdFindings {
    /// Problems of the sockets that systemd listens on, with their remedies, and a sandbox that is weaker than the shipped one; a
    /// block for each. Asks systemd, which must not take long.
    ///
    /// - Parameter socket: the daemon's socket.
    static func blocks(ofDaemonAt socket: String) -> [[CommandMessage]] {
        let sockets = FailedSockets.problems(ofDaemonAt: socket)
        guard geteuid() == 0, SystemManager.isSystemd, let weakness = UnitsInEffect()?.weakness else { return sockets }
        return sockets + [["warning: \(weakness)"]]
    }
}
