/// The connections of the metrics socket. Nobody can be told apart there, so no limit for each user keeps the slow from
/// being in the way of the others. The rules are:
///
/// - So many send a request, or might, at one time, and as many others are sent an answer: whoever has asked is not
///   displaced by those who have not.
/// - One more of either ends the connection that has been at it longest. A scrape takes milliseconds, so that is one that
///   drips its request, reads nothing or lies idle; a scraper whose idle connection was ended makes another.
struct MetricsQueue {
    enum Stage: Hashable {
        case request
        case answer
    }

    /// Each with the longest first.
    private var stages: [Stage: [HTTPConnection]] = [:]

    /// Puts a connection behind the others at this stage, of which `limit` may be there.
    ///
    /// - Returns: the connection to end, if it is one too many.
    mutating func put(_ connection: HTTPConnection, in stage: Stage, limit: Int) -> HTTPConnection? {
        remove(connection)
        stages[stage, default: []].append(connection)
        guard let all = stages[stage], all.count > limit else { return nil }
        return all.first
    }

    mutating func remove(_ connection: HTTPConnection) {
        for stage in stages.keys { stages[stage]?.removeAll { $0 === connection } }
    }

    /// The one that gives way when no room is left for another connection, on whichever socket.
    var oldest: HTTPConnection? { stages[.request]?.first ?? stages[.answer]?.first }
}
