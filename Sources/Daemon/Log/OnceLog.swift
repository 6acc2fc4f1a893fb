import Model
import Rotation

/// The log of failures in a run with `--once`: each failure once. A daemon logs when a failure begins and when the state of a
/// client changes. With the unfinished work at the end, a single run would log the same message three times.
struct OnceLog {
    typealias Entry = (event: LogEvent, clients: [ClientName])

    /// Failures that have begun and not ended, in the order in which they began.
    private var begun: [(resource: Resource, failure: Failure, entry: Entry)] = []

    /// The entries to log now for this event.
    mutating func take(_ event: LogEvent, _ clients: [ClientName]) -> [Entry] {
        switch event {
        case .failing(let resource, let failure, let failures, _):
            begun.removeAll { $0.resource == resource }
            let ended = LogEvent.failing(resource, failure, failures: failures, retryAt: nil)
            begun.append((resource, failure, (ended, clients)))
            return []
        case .recovered(let resource, _):
            let before = begun.filter { $0.resource == resource }.map(\.entry)
            begun.removeAll { $0.resource == resource }
            return before + [(event, clients)]
        case .health: return []
        default: return [(event, clients)]
        }
    }

    /// The entries to log at the end: failures whose message no client's line has.
    func left(except reasons: [Failure]) -> [Entry] {
        let logged = Set(reasons.map(\.message))
        return begun.filter { !logged.contains($0.failure.message) }.map(\.entry)
    }
}
