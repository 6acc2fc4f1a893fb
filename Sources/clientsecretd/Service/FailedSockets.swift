import Failures
import Linux
import Systemd

/// The sockets of the daemon and of its helpers that systemd has given up, or whose files are gone. Every request there fails
/// until root starts them again.
enum FailedSockets {
    /// The problem and the remedy of each. Empty if systemd cannot be asked, or if the daemon on another socket is not the
    /// service.
    static func problems(ofDaemonAt socket: String) -> [[CommandMessage]] {
        guard SystemManager.isSystemd, socket == SocketOption.standard else { return [] }
        let problems = SystemdClient.ask(within: UnitTimeouts.shortAnswer) { systemd throws(UnitError) in
            try systemd.socketProblems()
        }
        return (problems ?? []).map { problem in
            [
                "\(problem.socket) \(problem.words)",
                CommandMessage("  fix: \(problem.remedy)", command: problem.remedy.command),
            ]
        }
    }

    /// The remedy if the service runs and cannot be asked; nil if it does not run, or another daemon is meant.
    ///
    /// - Parameter socket: a path at which nothing can be reached.
    static func remedy(for socket: String) -> Remedy? {
        guard SystemManager.isSystemd, socket == SocketOption.standard else { return nil }
        return SystemdClient.ask(within: UnitTimeouts.shortAnswer) { systemd throws(UnitError) in
            guard try systemd.state(of: PackageUnit.daemon).isUp else { return nil }
            let name = PackageUnit.statusSocket
            let state = try systemd.state(of: name)
            return SocketUnit.remedyOfStatusSocket(
                in: state, mask: SocketUnit.mask(of: name, in: state) ?? SocketUnit.unmasking(name),
                isGone: FileStatus.isAbsent(socket))
        }
    }
}
