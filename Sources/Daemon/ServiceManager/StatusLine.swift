import Failures
import Model
import Systemd

extension Snapshot {
    /// The line that `systemctl status` shows once the daemon is ready (`STATUS=`, sd_notify(3)).
    var statusLine: String {
        if let failure = reason?.failure {
            let message = CommandMessage(
                "\(health.rawValue): \(failure.sentence)", command: failure.remedy?.command)
            return message.text(atMost: Notify.longestStatus, keeping: Notify.keeps)
        }
        let next = clients.compactMap { client in client.renewAt.map { (at: $0, name: client.name) } }.min {
            $0.at < $1.at
        }
        let count = clients.count == 1 ? "1 client" : "\(clients.count) clients"
        return "ok: \(count)" + (next.map { "; next renewal \($0.at), \($0.name)" } ?? "")
    }
}
