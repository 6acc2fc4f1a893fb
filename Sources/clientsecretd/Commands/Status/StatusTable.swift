import AppleClientSecret
import Model
import StatusAPI

/// A row for each client: its state, and how much of its secret's life has passed.
struct StatusTable {
    /// In the order in which they are shown.
    var clients: [ClientView]
    var now: WallTime
    /// How many lines it may take; nil for no limit.
    var room: Int?

    /// How many lines it takes up, the empty one before it included.
    var height: Int {
        let whole = clients.isEmpty ? 0 : clients.count + 2
        return min(whole, max(room ?? whole, Self.lowest))
    }

    /// The fewest lines: the empty one, the headings, the worst client, and the summary of the others.
    private static let lowest = 4

    /// The table with an empty line before it; nothing without a client.
    func lines(for terminal: Terminal) -> [[Piece]] {
        guard !clients.isEmpty else { return [] }
        guard height < clients.count + 2 else { return [[]] + richest(of: clients, for: terminal) }
        let shown = clients.prefix(height - Self.lowest + 1)
        return [[]] + richest(of: Array(shown), for: terminal) + [[Piece(Self.summary(of: clients[shown.endIndex...]))]]
    }

    private static func summary(of clients: ArraySlice<ClientView>) -> String {
        let counts = Dictionary(grouping: clients, by: \.health).mapValues(\.count)
            .sorted { $0.key > $1.key }
            .map { "\($0.value.grouped) \($0.key.rawValue)" }
        return "and \(clients.count.grouped) more clients: " + counts.joined(separator: ", ")
    }

    /// How much the table shows, from all columns down to the indispensable ones.
    private enum Detail: Int, CaseIterable {
        case everything
        case withoutMoments
        case withShortBar
        case withoutCounts
        case withoutRenewal
        case expiryAlone

        var barCells: Int {
            switch self {
            case .everything, .withoutMoments: 20
            case .withShortBar, .withoutCounts, .withoutRenewal: 10
            case .expiryAlone: 0
            }
        }

        func isRicher(than other: Detail) -> Bool { rawValue < other.rawValue }
    }

    /// The richest table that fits; if even the barest is too wide, names are shortened, and then lines are cut.
    private func richest(of clients: [ClientView], for terminal: Terminal) -> [[Piece]] {
        var table = Table(headings: [], rows: [])
        for detail in Detail.allCases {
            table = self.table(of: clients, detail, unicode: terminal.unicode)
            guard let columns = terminal.columns, table.width > columns else { return table.lines }
        }
        guard let columns = terminal.columns else { return table.lines }
        let longest = table.rows.map { $0[0].text.count }.max() ?? 0
        let room = max(longest - (table.width - columns), Self.shortestName)
        for row in table.rows.indices { table.rows[row][0].text = Self.shortened(table.rows[row][0].text, to: room) }
        return table.lines.map { Self.cut($0, to: columns) }
    }

    private static let shortestName = 8

    /// Leaves out a name's middle, because its ends say more.
    private static func shortened(_ name: String, to length: Int) -> String {
        guard name.count > length else { return name }
        return name.prefix(length / 2) + "~" + name.suffix(length - length / 2 - 1)
    }

    private static func cut(_ line: [Piece], to columns: Int) -> [Piece] {
        var room = columns
        return line.map { piece in
            let text = piece.text.prefix(max(room, 0))
            room -= piece.text.count
            return Piece(String(text), piece.style)
        }
    }

    private func table(of clients: [ClientView], _ detail: Detail, unicode: Bool) -> Table {
        let hasBar = detail.barCells > 0
        let hasCounts = detail.isRicher(than: .withoutCounts)
        let hasActions = hasCounts && clients.contains { !$0.actions.isEmpty || $0.isUndeployed }
        let life = detail.isRicher(than: .withShortBar) ? "LIFE (\(unicode ? "│" : "|") renewal)" : "LIFE"
        let columns: [(heading: String, isShown: Bool, cell: (ClientView) -> Piece)] = [
            ("CLIENT", true, { Piece($0.name.description) }),
            ("STATE", true, { Piece($0.health.rawValue, Piece.Style(of: $0.health)) }),
            (life, hasBar, { Piece(bar(of: $0, detail, unicode: unicode), Piece.Style(of: $0.health)) }),
            ("EXPIRES", true, { Piece(moment(end(of: $0), detail) ?? "no secret") }),
            ("RENEWS", detail.isRicher(than: .withoutRenewal), { Piece(moment($0.renewAt, detail) ?? "") }),
            ("MINTED", detail.isRicher(than: .withShortBar), { Piece(String($0.renewals)) }),
            ("OUTPUTS", hasCounts, { Piece(share($0.outputs.map { $0.state == .ok })) }),
            ("ACTIONS", hasActions, { Piece(actions(of: $0)) }),
        ].filter(\.isShown)
        return Table(
            headings: columns.map(\.heading), rows: clients.map { client in columns.map { $0.cell(client) } })
    }

    /// When the secret that applications hold expires: until a new secret is delivered, that is the previous one.
    private func end(of client: ClientView) -> WallTime? {
        client.delivered ? client.current?.expiresAt : client.deliveredExpiresAt ?? client.current?.expiresAt
    }

    /// The bar of a new secret is full: the span by which `iat` is backdated is not part of its life. While
    /// applications still hold an older secret than the current one, its renewal is past, and the bar has no mark.
    private func bar(of client: ClientView, _ detail: Detail, unicode: Bool) -> String {
        guard let current = client.current, let end = end(of: client) else { return "" }
        let life = current.expiresAt - current.mintedAt
        return LifetimeBar.text(
            from: end - life, to: end, at: now, renewal: end == current.expiresAt ? client.renewAt : nil,
            cells: detail.barCells, unicode: unicode)
    }

    private func moment(_ moment: WallTime?, _ detail: Detail) -> String? {
        moment.map { detail == .everything ? TimeWords.full($0, to: now) : TimeWords.relative($0, to: now) }
    }

    private func actions(of client: ClientView) -> String {
        let done = share(client.actions.map { $0.state == .ok })
        guard client.isUndeployed else { return done }
        return client.actions.isEmpty ? "not deployed" : done + ", not deployed"
    }

    private func share(_ oks: [Bool]) -> String {
        oks.isEmpty ? "none" : "\(oks.count { $0 }) of \(oks.count) ok"
    }
}
