import AppleClientSecret
import Failures
import Model
import StatusAPI

/// The status document for operators: a table with the worst clients first, and below it failures and remedies.
struct StatusReport {
    var snapshot: Snapshot
    var now: WallTime
    /// How many lines the terminal has for it; nil for no limit.
    var room: Int?
    /// Other problems on the machine, a block for each.
    var findings: [[CommandMessage]] = []

    func lines(for terminal: Terminal) -> [[Piece]] {
        let summary = Paragraph.lines(self.summary, columns: terminal.columns).map {
            [Piece($0, Piece.Style(of: snapshot.health))]
        }
        let clients = snapshot.clients.sorted { ($1.health, $0.name) < ($0.health, $1.name) }
        let problems = StatusProblems(snapshot: snapshot, clients: clients, now: now).blocks
        var blocks = (problems + findings).map { texts in
            [[]]
                + texts.flatMap { line in
                    // A wrapped detail stays indented below its sentence.
                    Paragraph.lines(line, on: terminal, indent: line.text.hasPrefix(" ") ? 4 : 2)
                        .map { [Piece($0)] }
                }
        }
        var table = StatusTable(clients: clients, now: now)
        if let room {
            let free = room - summary.count
            let wanted = blocks.joined().reduce(0) { $0 + terminal.height(of: $1) }
            // The failures get half of the lines at most, unless the table leaves more.
            table.room = max(free - wanted, free / 2)
            blocks = Self.first(blocks, in: free - table.height, of: terminal)
        }
        return summary + table.lines(for: terminal) + blocks.joined()
    }

    private var summary: String {
        let count = snapshot.clients.count
        let clients = "\(count.grouped) client\(count == 1 ? "" : "s")"
        return
            "clientsecretd \(snapshot.version) is \(snapshot.health.rawValue): \(clients), "
            + "started \(TimeWords.past(snapshot.startedAt, to: now)) (\(snapshot.startedAt))"
    }

    /// As many blocks as fit, and a line about the others when some did not.
    private static func first(_ blocks: [[[Piece]]], in room: Int, of terminal: Terminal) -> [[[Piece]]] {
        var left = room
        let heights = blocks.map { $0.reduce(0) { $0 + terminal.height(of: $1) } }
        guard heights.reduce(0, +) > room else { return blocks }
        let count = heights.prefix { height in
            left -= height
            // A line that says there are more, and an empty one before it, have to fit as well.
            return left >= 2
        }.count
        // Not even the worst fits: show its beginning.
        guard count > 0 else { return blocks.prefix(1).map { Array($0.prefix(max(room, 0))) } }
        let more = ShellCommand.status.map { "for more problems, run: \($0.text)" } ?? "there are more problems"
        return blocks.prefix(count) + [[[], [Piece(more)]]]
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
