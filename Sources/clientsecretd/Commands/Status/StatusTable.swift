import AppleClientSecret
import Model
import StatusAPI

/// A row for each client: its state, and how much of its secret's life has passed.
struct StatusTable {
    /// In the order in which they are shown.
    var clients: [ClientView]
    var now: WallTime

    /// The richest table that fits, with an empty line before it; nothing without a client. If even the barest is too wide, the
    /// terminal wraps its lines.
    func lines(for terminal: Terminal) -> [[Piece]] {
        guard !clients.isEmpty else { return [] }
        let tables = Detail.allCases.lazy.map { table($0, unicode: terminal.unicode) }
        let fitting = tables.first { $0.width <= terminal.columns ?? .max }
        return [[]] + (fitting ?? table(.stateAndExpiry, unicode: terminal.unicode)).lines
    }

    /// How much the table shows, from all columns down to the indispensable ones.
    private enum Detail: CaseIterable, Comparable {
        case everything
        case withoutMoments
        case withShortBar
        case stateAndExpiry
    }

    private func table(_ detail: Detail, unicode: Bool) -> Table {
        let isNarrow = detail >= .withShortBar
        let isBare = detail == .stateAndExpiry
        let hasActions = clients.contains { !$0.actions.isEmpty || $0.isUndeployed }
        let life = isNarrow ? "LIFE" : "LIFE (\(unicode ? "│" : "|") renewal)"
        func bar(of client: ClientView) -> Piece {
            Piece(self.bar(of: client, cells: isNarrow ? 10 : 20, unicode: unicode), Piece.Style(of: client.health))
        }
        let columns: [(heading: String, isShown: Bool, cell: (ClientView) -> Piece)] = [
            ("CLIENT", true, { Piece($0.name.description) }),
            ("STATE", true, { Piece($0.health.rawValue, Piece.Style(of: $0.health)) }),
            (life, !isBare, { bar(of: $0) }),
            ("EXPIRES", true, { Piece(moment(end(of: $0), detail) ?? "no secret") }),
            ("RENEWS", !isBare, { Piece(moment($0.renewAt, detail) ?? "") }),
            ("MINTED", !isNarrow, { Piece(String($0.renewals)) }),
            ("OUTPUTS", !isBare, { Piece(share($0.outputs.map { $0.state == .ok })) }),
            ("ACTIONS", !isBare && hasActions, { Piece(actions(of: $0)) }),
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
    private func bar(of client: ClientView, cells: Int, unicode: Bool) -> String {
        guard let current = client.current, let end = end(of: client) else { return "" }
        let life = current.expiresAt - current.mintedAt
        return LifetimeBar.text(
            from: end - life, to: end, at: now, renewal: end == current.expiresAt ? client.renewAt : nil,
            cells: cells, unicode: unicode)
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
