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
        let hasBar = detail.barCells > 0
        let columns: [(heading: String, isShown: Bool, cell: (StatusDocument.Client) -> Piece)] = [
            ("CLIENT", true, { Piece($0.name) }),
            ("STATE", true, { Piece($0.state, style(of: $0.state)) }),
            ("LIFE", hasBar, { Piece(bar(of: $0, detail, unicode: unicode), style(of: $0.state)) }),
            ("EXPIRES", true, { Piece(moment(end(of: $0), detail) ?? "no secret") }),
            ("RENEWS", detail != .expiryAlone, { Piece(moment($0.renewAt, detail) ?? "") }),
            ("MINTED", hasBar, { Piece(String($0.renewals)) }),
            ("OUTPUTS", detail != .expiryAlone, { Piece(share($0.outputs.map(\.state))) }),
            (
                "ACTIONS", detail != .expiryAlone && document.clients.contains { !$0.actions.isEmpty },
                { Piece(share($0.actions.map(\.state))) }
            ),
        ].filter(\.isShown)
        return Table(
            headings: columns.map(\.heading),
            rows: sorted.map { client in columns.map { $0.cell(client) } })
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

    /// The bar of a new secret is full: that `iat` lies back is no part of its life.
    private func bar(of client: StatusDocument.Client, _ detail: Detail, unicode: Bool) -> String {
        guard let issued = client.issuedAt, let expires = client.expiresAt, let end = end(of: client) else { return "" }
        let life = expires - issued - Claims.backdating
        return LifetimeBar.text(from: end - life, to: end, at: now, cells: detail.barCells, unicode: unicode)
    }

    private func moment(_ moment: WallTime?, _ detail: Detail) -> String? {
        moment.map { detail == .everything ? TimeWords.full($0, to: now) : TimeWords.relative($0, to: now) }
    }

    private func share(_ states: [String]) -> String {
        states.isEmpty ? "none" : "\(states.count { $0 == "ok" }) of \(states.count) ok"
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
        // The reason of the whole may say it already, with the remedy at its end.
        if let error = document.config.error, document.reason?.contains(error.prefix { $0 != ";" }) != true {
            problems.append(["The configuration in \(document.config.path) would not start: \(error)"])
        }
        let reasons = Set(document.clients.compactMap(\.reason))
        if let reason = document.reason, !reasons.contains(reason) {
            problems.append(["\(document.state): \(TimeWords.annotated(reason, now: now))"])
        }
        for client in sorted where client.state != "ok" {
            var lines = ["\(client.name) is \(client.state): \(TimeWords.annotated(reason(of: client), now: now))"]
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

    /// The reason without the name that stands before it here anyway.
    private func reason(of client: StatusDocument.Client) -> String {
        let reason = client.reason ?? "no reason is known"
        let subject = "client \"\(client.name)\": "
        return reason.hasPrefix(subject) ? String(reason.dropFirst(subject.count)) : reason
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
