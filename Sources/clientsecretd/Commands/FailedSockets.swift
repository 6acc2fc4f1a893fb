import Failures
import Linux
import Systemd

/// The sockets of the daemon and of its helpers that systemd has given up, for example because there were too many
/// connections: whatever is asked there is refused until root starts them again.
enum FailedSockets {
    /// In milliseconds; systemd answers at once.
    private static let patience: Int64 = 2_000

    /// What is wrong and what helps, for each; empty where systemd cannot be asked, or for a daemon on another socket, which
    /// is not the service.
    static func problems(ofDaemonAt socket: String) -> [[ReportLine]] {
        guard SystemManager.isSystemd, socket == SocketOption.standard else { return [] }
        var names: [String] = []
        do throws(UnitError) {
            var systemd = try SystemdClient(patience: patience, cancel: nil)
            names = try systemd.failedUnits(matching: "clientsecretd*.socket")
        } catch {
            return []
        }
        return names.map { name in
            let reset = Remedy.run(.resetFailed(name), otherwise: "start it again")
            return [
                "\(name) has failed: systemd does not listen there",
                ReportLine("  fix: \(reset)", command: reset.command),
            ]
        }
    }
}
