import AppleClientSecret
import Monitoring
import Rotation

/// The status document for people: a table with the worst clients first, and below it what is wrong and what helps.
struct StatusReport {
    var document: StatusDocument
    var now: WallTime

    func lines(for terminal: Terminal) -> [[Piece]] {
        var lines = Paragraph.lines(summary, columns: terminal.columns).map { [Piece($0, style(of: document.state))] }
        if !document.clients.isEmpty {
            lines.append([])
            lines += table(for: terminal)
        }
        for problem in problems {
            lines.append([])
            for text in problem {
                lines += Paragraph.lines(text, columns: terminal.columns).map { [Piece($0)] }
            }
        }
        return lines
    }

    private var summary: String {
        let count = document.clients.count
        return "clientsecretd \(document.version) is \(document.state): \(count) client\(count == 1 ? "" : "s"), "
            + "started \(TimeWords.full(document.startedAt, to: now))"
    }

    // MARK: The table

    /// How much the table shows, from everything down to what nobody can do without.
    private enum Detail: CaseIterable {
        case everything
        case withoutMoments
        case withShortBar
        case withoutBar
        case expiryAlone

        var barCells: Int {
            switch self {
            case .everything, .withoutMoments: 20
            case .withShortBar: 10
            case .withoutBar, .expiryAlone: 0
            }
        }
    }

    /// The richest table that fits; where even the barest does not, its lines are cut at the terminal's edge.
    private func table(for terminal: Terminal) -> [[Piece]] {
        var table = Table(headings: [], rows: [])
        for detail in Detail.allCases {
            table = self.table(detail, unicode: terminal.unicode)
            guard let columns = terminal.columns, table.width > columns else { return table.lines }
        }
        return table.lines.map { cut($0, to: terminal.columns ?? table.width) }
    }

    private func table(_ detail: Detail, unicode: Bool) -> Table {
        let hasActions = document.clients.contains { !$0.actions.isEmpty }
        var headings = ["CLIENT", "STATE"]
        if detail.barCells > 0 { headings.append("LIFE") }
        headings.append("EXPIRES")
        if detail != .expiryAlone {
            headings += ["RENEWS", "OUTPUTS"] + (hasActions ? ["ACTIONS"] : [])
        }
        let rows = sorted.map { client in
            var row = [Piece(client.name), Piece(client.state, style(of: client.state))]
            if detail.barCells > 0 {
                row.append(Piece(bar(of: client, cells: detail.barCells, unicode: unicode), style(of: client.state)))
            }
            row.append(Piece(moment(end(of: client), detail) ?? "no secret"))
            guard detail != .expiryAlone else { return row }
            row.append(Piece(moment(client.renewAt, detail) ?? "unknown"))
            row.append(Piece(share(client.outputs.count { $0.state == "ok" }, of: client.outputs.count)))
            if hasActions {
                row.append(Piece(share(client.actions.count { $0.state == "ok" }, of: client.actions.count)))
            }
            return row
        }
        return Table(headings: headings, rows: rows)
    }

    private var sorted: [StatusDocument.Client] {
        document.clients.sorted { left, right in
            (-rank(of: left.state), left.name) < (-rank(of: right.state), right.name)
        }
    }

    /// When what applications hold expires: until a new secret is delivered, that is the one before.
    private func end(of client: StatusDocument.Client) -> WallTime? {
        client.delivered ? client.expiresAt : client.deliveredExpiresAt ?? client.expiresAt
    }

    private func bar(of client: StatusDocument.Client, cells: Int, unicode: Bool) -> String {
        guard let issued = client.issuedAt, let expires = client.expiresAt, let end = end(of: client) else {
            return LifetimeBar.text(from: now, to: now, at: now, cells: cells, unicode: unicode)
        }
        return LifetimeBar.text(from: end - (expires - issued), to: end, at: now, cells: cells, unicode: unicode)
    }

    private func moment(_ moment: WallTime?, _ detail: Detail) -> String? {
        moment.map { detail == .everything ? TimeWords.full($0, to: now) : TimeWords.relative($0, to: now) }
    }

    private func share(_ good: Int, of all: Int) -> String {
        all == 0 ? "none" : "\(good) of \(all) ok"
    }

    private func cut(_ line: [Piece], to columns: Int) -> [Piece] {
        var room = columns
        return line.map { piece in
            let text = piece.text.prefix(max(room, 0))
            room -= piece.text.count
            return Piece(String(text), piece.style)
        }
    }

    // MARK: What is wrong

    /// A paragraph for each client that is not ok, the worst first, and for the daemon itself.
    private var problems: [[String]] {
        var problems: [[String]] = []
        if let error = document.config.error {
            problems.append(["The configuration in \(document.config.path) would not start: \(error)"])
        }
        let reasons = Set(document.clients.compactMap(\.reason))
        if let reason = document.reason, !reasons.contains(reason) {
            problems.append(["\(document.state): \(TimeWords.annotated(reason, now: now))"])
        }
        for client in sorted where client.state != "ok" {
            var lines = ["\(client.name) is \(client.state): \(TimeWords.annotated(client.reason ?? "", now: now))"]
            let further =
                client.outputs.map { ($0.path, $0.state, $0.error) }
                + client.actions.map { ($0.action, $0.state, $0.error) }
            for (name, state, error) in further {
                guard let error, client.reason?.contains(error) != true else { continue }
                lines.append("  \(name) is \(state): \(TimeWords.annotated(error, now: now))")
            }
            problems.append(lines)
        }
        return problems
    }

    private func rank(of state: String) -> Int {
        Standing(rawValue: state).flatMap(Standing.allCases.firstIndex) ?? Standing.allCases.count
    }

    private func style(of state: String) -> Piece.Style {
        switch Standing(rawValue: state) {
        case .ok?: .green
        case .degraded?: .yellow
        case .critical?, nil: .red
        }
    }
}
