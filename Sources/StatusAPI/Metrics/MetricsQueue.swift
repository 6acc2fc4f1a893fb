/// The connections of the metrics socket. It has no peer credentials, so no limit per user keeps slow clients from
/// blocking the others. The rules are:
///
/// - A limited number of connections send a request or are idle, and as many others are sent an answer. So a client that has sent
///   its request is not displaced by those that have not.
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
