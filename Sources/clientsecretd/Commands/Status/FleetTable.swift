import AppleClientSecret
import Failures
import Model
import StatusAPI

/// The secrets that the machines of the fleet hold, as operators see them. There is a line for each client, and below it a table
/// of the machines, the worst first.
struct FleetTable {
    var view: FleetView
    var now: WallTime

    /// How many machines of one state the line of a client names.
    private static let named = 5

    func lines(for terminal: Terminal) -> [[Piece]] {
        let summary = view.clients.flatMap { client in
            Paragraph.lines(sentence(client), columns: terminal.columns).map { [Piece($0, style(client))] }
        }
        let rows = view.clients.flatMap { client in client.machines.map { row($0, of: client.name) } }
        guard !rows.isEmpty else { return summary }
        let headings = ["CLIENT", "MACHINE", "STATE", "HOLDS", "SINCE", "DELIVERED", "FAILURE", "LAST SEEN"]
        return summary + [[]] + Table(headings: headings, rows: rows).lines
    }

    /// `web: 9,998 of 10,000 hold sha256:…, delivered on 9,990; behind: app17, app18`.
    private func sentence(_ client: FleetClientView) -> String {
        let counts = client.counts
        var text = "\(client.name): "
        if counts.hosts == 0 {
            text += "no machine has reported it"
        } else {
            text +=
                "\(client.held.grouped) of \(counts.hosts.grouped) hold "
                + (client.fingerprint?.description ?? "a secret, because there is none here")
                + ", delivered on \(counts.delivered.grouped)"
        }
        for state in [FleetCounts.State.failing, .behind, .silent] where counts[state] > 0 {
            let names = client.machines.filter { $0.state == state }.prefix(Self.named).map {
                Printable.name($0.machine)
            }
            let more = counts[state] - names.count
            text += "; \(state.rawValue): " + names.joined(separator: ", ")
            if more > 0 { text += " and \(more.grouped) more" }
        }
        if let rollout = client.rollout, rollout.state != .finished {
            text += "; rollout: " + RolloutWords.line(for: rollout, in: client, now: now)
        }
        return text
    }

    private func style(_ client: FleetClientView) -> Piece.Style {
        if client.counts[.failing] > 0 { return .red }
        return client.counts[.current] == client.counts.hosts ? .green : .yellow
    }

    private func row(_ machine: FleetMachineView, of client: ClientName) -> [Piece] {
        let style: Piece.Style =
            switch machine.state {
            case .failing: .red
            case .behind, .silent: .yellow
            case .current: .green
            }
        return [
            Piece(client.description), Piece(Printable.name(machine.machine)), Piece(machine.state.rawValue, style),
            Piece(machine.holding.secret?.fingerprint.description ?? "no secret"),
            Piece(TimeWords.past(machine.holding.since, to: now)), Piece(machine.holding.delivered ? "yes" : "no"),
            Piece(machine.holding.failure.map(Printable.foreign) ?? ""),
            Piece(TimeWords.past(machine.lastSeen, to: now)),
        ]
    }
}
