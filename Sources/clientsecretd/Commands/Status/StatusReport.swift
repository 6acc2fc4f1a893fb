import AppleClientSecret
import Failures
import Model
import StatusAPI

/// The status document for operators: a table with the worst clients first, and below it failures and remedies.
struct StatusReport {
    var snapshot: Snapshot
    var now: WallTime
    /// Other problems on the machine, a block for each.
    var findings: [[CommandMessage]] = []

    func lines(for terminal: Terminal) -> [[Piece]] {
        let summary = Paragraph.lines(self.summary, columns: terminal.columns).map {
            [Piece($0, Piece.Style(of: snapshot.health))]
        }
        let clients = snapshot.clients.sorted { ($1.health, $0.name) < ($0.health, $1.name) }
        let problems = StatusProblems(snapshot: snapshot, clients: clients, now: now).blocks
        let blocks = (problems + findings).flatMap { texts in
            [[]]
                + texts.flatMap { line in
                    // A wrapped detail stays indented below its sentence.
                    Paragraph.lines(line, on: terminal, indent: line.text.hasPrefix(" ") ? 4 : 2)
                        .map { [Piece($0)] }
                }
        }
        return summary + StatusTable(clients: clients, now: now).lines(for: terminal) + blocks
    }

    private var summary: String {
        let count = snapshot.clients.count
        let clients = "\(count.grouped) client\(count == 1 ? "" : "s")"
        return
            "clientsecretd \(snapshot.version) is \(snapshot.health.rawValue): \(clients), "
            + "started \(TimeWords.past(snapshot.startedAt, to: now)) (\(snapshot.startedAt))"
    }
}

extension Piece.Style {
    init(of health: HealthState) {
        switch health {
        case .ok: self = .green
        case .degraded: self = .yellow
        case .critical: self = .red
        }
    }
}
