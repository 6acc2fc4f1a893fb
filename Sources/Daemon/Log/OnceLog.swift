import Model
import Rotation

/// What a run with `--once` logs of failures: each once. A daemon logs when one begins and when the state of a client changes; with what
/// is left undone at the end, a single run would log the same words three times.
struct OnceLog {
    typealias Entry = (event: LogEvent, clients: [ClientName])

    /// Failures that have begun and not ended, in the order in which they began.
    private var begun: [(resource: Resource, failure: Failure, entry: Entry)] = []

    /// What to log now, when this happens.
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

    /// What to log at the end of failures whose message no client's line has.
    func left(except reasons: [Failure]) -> [Entry] {
        let logged = Set(reasons.map(\.message))
        return begun.filter { !logged.contains($0.failure.message) }.map(\.entry)
    }
}
