import AppleClientSecret
import Failures
import Model
import StatusAPI

/// The outcome for a client that `init --now` added, in the service's own view.
struct InitOutcome {
    let lines: [String]
    /// Whether the secret is published, and its application was notified.
    let isServed: Bool

    /// Nil if the service does not know the client: then it has not loaded the new file.
    ///
    /// - Parameters:
    ///   - isComplete: whether nothing is left for the person to change.
    ///   - isRunning: whether a unit runs: one that is stopped was not restarted.
    init?(of new: NewConfigurationFile, in snapshot: Snapshot, isComplete: Bool = true, isRunning: (String) -> Bool) {
        guard let client = snapshot.clients.first(where: { $0.name == new.name }) else { return nil }
        let failing = snapshot.clients.filter { $0.name != new.name && $0.health != .ok }
        var lines: [String] = []
        if let other = failing.first {
            let isServed = client.health == .ok ? " \"\(client.name)\" is served." : ""
            lines += [
                "The configuration is loaded, but client \"\(other.name)\" fails (below).\(isServed)",
                "  \(other.name): \(other.readReason?.sentence ?? "the reason is not known")",
            ]
        }
        if client.health == .ok, client.delivered, let current = client.current {
            let date = String(current.expiresAt.description.prefix(10))
            let done = isComplete ? "Done. " : ""
            lines.append("\(done)\(Self.place(new)) has a secret until \(date)\(Self.notified(client, isRunning)).")
        } else if let reason = client.readReason {
            lines.append("\(client.name): \(reason.sentence)")
        }
        self.lines = lines
        isServed = client.health == .ok
    }

    private static func place(_ new: NewConfigurationFile) -> String {
        switch new.destination {
        case .file(let file)?: Printable.name(file.path.description)
        case .credential(let name)?: "The credential \(name)"
        case nil: new.target.map { "Target \($0.name)" } ?? "Client \(new.name)"
        }
    }

    /// The actions that ran: one that was ok before the daemon saw the client has no time.
    private static func notified(_ client: ClientView, _ isRunning: (String) -> Bool) -> String {
        let done = client.actions.filter { $0.state == .ok && $0.ranAt != nil }.compactMap { action -> String? in
            guard let (verb, unit) = action.action.order else { return nil }
            switch verb {
            case .restart where isRunning(unit): return "\(unit) was restarted"
            case .reload where isRunning(unit): return "\(unit) was reloaded"
            case .start: return "\(unit) was started"
            case .restart, .reload, .reloadOrRestart: return nil
            }
        }
        return done.isEmpty ? "" : ", and " + done.joined(separator: ", ")
    }
}
