/// Counts the open connections, in all and by user.
struct ConnectionLimiter {
    private var total = 0
    private var byUser: [UInt32: Int] = [:]

    /// Counts a connection and returns nil when it is admitted, else returns why not. The metrics socket has no peer
    /// credentials: its connections count only towards the total.
    mutating func enter(_ listener: ListenerKind, control: RenewalPermission, limits: HTTPLimits) -> String? {
        let room = room(for: listener, control, limits)
        if total >= room { return "all \(room) connections are taken; try again" }
        if let user = listener.user {
            if user != 0, byUser[user, default: 0] >= limits.connectionsPerUser {
                return
                    "user \(user) has \(limits.connectionsPerUser) connections open, as many as one user may; close one"
            }
            byUser[user, default: 0] += 1
        }
        total += 1
        return nil
    }

    /// Whether the total alone rules out another connection of this kind.
    func isFull(for listener: ListenerKind, control: RenewalPermission, limits: HTTPLimits) -> Bool {
        total >= room(for: listener, control, limits)
    }

    private func room(for listener: ListenerKind, _ control: RenewalPermission, _ limits: HTTPLimits) -> Int {
        let isKept = listener.user.map(control.keepsRoom) ?? false
        return isKept ? limits.connections : limits.connections - limits.keptConnections
    }

    /// Stops counting a connection that was admitted.
    mutating func leave(_ listener: ListenerKind) {
        total -= 1
        guard let user = listener.user else { return }
        let left = byUser[user, default: 0] - 1
        byUser[user] = left > 0 ? left : nil
    }
}

/// The connections of the metrics socket. It has no peer credentials, so no limit per user keeps slow clients from
/// blocking the others. The rules are:
///
/// - A limited number of connections send a request or are idle, and as many others are sent an answer: a client that
///   has sent its request is not displaced by those that have not.
/// - One more in either stage closes the connection that has been there longest. A scrape takes milliseconds, so that
///   one sends slowly, reads nothing or is idle; a scraper whose idle connection was closed reconnects.
struct MetricsQueue {
    enum Stage: Hashable {
        case request
        case answer
    }

    /// Each stage's connections, the one that has been there longest first.
    private var stages: [Stage: [HTTPConnection]] = [:]

    /// Puts a connection last in this stage, which may hold `limit` connections.
    ///
    /// - Returns: the connection to close, if there is one too many.
    mutating func put(_ connection: HTTPConnection, in stage: Stage, limit: Int) -> HTTPConnection? {
        remove(connection)
        stages[stage, default: []].append(connection)
        guard let all = stages[stage], all.count > limit else { return nil }
        return all.first
    }

    mutating func remove(_ connection: HTTPConnection) {
        for stage in stages.keys { stages[stage]?.removeAll { $0 === connection } }
    }

    /// The connection to close when there is no room for another connection, on either socket.
    var oldest: HTTPConnection? { stages[.request]?.first ?? stages[.answer]?.first }
}
