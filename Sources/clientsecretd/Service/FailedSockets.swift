import Failures
import Linux
import Systemd

/// The sockets of the daemon and of its helpers that systemd has given up, for example because there were too many connections.
/// Every request there is refused until root starts them again.
enum FailedSockets {
    /// The problem and the remedy of each. Empty if systemd cannot be asked, or if the daemon on another socket is not the
    /// service.
    static func problems(ofDaemonAt socket: String) -> [[CommandMessage]] {
        guard SystemManager.isSystemd, socket == SocketOption.standard else { return [] }
        let problems = SystemdClient.ask(within: UnitTimeouts.shortAnswer) {
            systemd throws(UnitError) -> [[CommandMessage]]? in
            let names = try systemd.units(matching: "clientsecretd*.socket", inStates: ["failed"])
            let daemon = try names.isEmpty ? nil : systemd.condition(of: CommandContext.packagesUnit)
            return names.map { name in
                let remedy = remedy(for: name, isDaemonUp: daemon?.isUp == true)
                return [
                    "\(name) has failed: systemd does not listen there",
                    CommandMessage("  fix: \(remedy)", command: remedy.command),
                ]
            }
        }
        return problems ?? []
    }

    private static func remedy(for socket: String, isDaemonUp: Bool) -> Remedy {
        if let remedy = UnitMask.remedy(ofSocket: socket) { return remedy }
        let isDaemons = daemons.contains(socket)
        let ownService = socket == startsInstances ? nil : String(socket.dropLast("socket".count)) + "service"
        return .run(
            .listenAgain(
                socket, of: isDaemons ? CommandContext.packagesUnit : ownService, isWanted: isDaemons && isDaemonUp),
            otherwise: "start it again")
    }

    private static let status = "clientsecretd.socket"
    /// The sockets that start the daemon.
    private static let daemons = [status, "clientsecretd-credentials.socket", "clientsecretd-metrics.socket"]
    /// The socket that starts an instance for each connection.
    private static let startsInstances = "clientsecretd-verify.socket"

    /// Why the service runs and cannot be asked; nil if it does not run, or another daemon is meant.
    ///
    /// - Parameter socket: a path at which there is no socket.
    static func lost(_ socket: String) -> CommandContext.LostSocket? {
        guard SystemManager.isSystemd, socket == SocketOption.standard, FileStatus.isAbsent(socket),
            UnitMask.remedy(ofSocket: status) == nil
        else { return nil }
        return SystemdClient.ask(within: UnitTimeouts.shortAnswer) { systemd throws(UnitError) in
            guard try systemd.condition(of: CommandContext.packagesUnit).isUp else { return nil }
            return try systemd.condition(of: status).activity == "failed" ? .failed : .gone
        }
    }
}
