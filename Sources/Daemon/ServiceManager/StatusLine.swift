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

    /// How far the start has come, shown as ``Progress/words`` until the daemon is ready.
    var progress: Progress {
        let done = clients.count { client in
            client.current != nil && client.outputs.allSatisfy { $0.state != .pending } || client.lastError != nil
        }
        return Progress(done: done, count: clients.count)
    }
}

/// How far a start has come.
struct Progress: Hashable {
    /// Clients whose outputs hold their secrets, or for which something failed.
    var done: Int
    var count: Int

    var words: String {
        "publishing \(done.grouped) of \(count.grouped) secret\(count == 1 ? "" : "s")"
    }
}
