import Model
import Rotation

/// The log of failures in a run with `--once`: each failure once. A daemon logs when a failure begins and when the state of a
/// client changes. With the unfinished work at the end, a single run would log the same message three times.
struct SingleRunLog {
    typealias Entry = (event: LogEvent, clients: [ClientName])

    /// Failures that have begun and not ended, in the order in which they began.
    private var begun: [Begun] = []
    /// The messages of problems of the daemon as a whole, which are logged at once.
    private var logged: Set<String> = []

    private struct Begun {
        let resource: Resource
        let failure: Failure
        /// Whether a job failed, which is tried again: a resource has one such failure. A client has others too, one for each of its
        /// variables that cannot be edited.
        let isOfJob: Bool
        let entry: Entry

        /// Whether the news about a resource and its failure are about this one.
        func isConcerned(by resource: Resource, _ failure: Failure, isOfJob: Bool) -> Bool {
            self.resource == resource && (self.failure == failure || self.isOfJob && isOfJob)
        }
    }

    /// The entries to log now for this event.
    mutating func take(_ event: LogEvent, _ clients: [ClientName]) -> [Entry] {
        switch event {
        case .failing(let resource, let failure, let failures, let retryAt):
            let isOfJob = retryAt != nil
            begun.removeAll { $0.isConcerned(by: resource, failure, isOfJob: isOfJob) }
            let ended = LogEvent.failing(resource, failure, failures: failures, retryAt: nil)
            begun.append(Begun(resource: resource, failure: failure, isOfJob: isOfJob, entry: (ended, clients)))
            return []
        case .recovered(let resource, let failure):
            // The job's last failure need not have been logged.
            let isOfJob = !begun.contains { $0.isConcerned(by: resource, failure, isOfJob: false) }
            let ended = begun.filter { $0.isConcerned(by: resource, failure, isOfJob: isOfJob) }
            begun.removeAll { $0.isConcerned(by: resource, failure, isOfJob: isOfJob) }
            return ended.map(\.entry) + [(event, clients)]
        case .health: return []
        case .faultRaised(let failure), .clockDistrusted(let failure):
            logged.insert(failure.message)
            return [(event, clients)]
        default: return [(event, clients)]
        }
    }

    /// The entries to log at the end: failures whose message no client's line has.
    func left(except reasons: [Failure]) -> [Entry] {
        let logged = Set(reasons.map(\.message))
        return begun.filter { !logged.contains($0.failure.message) }.map(\.entry)
    }

    /// Whether a failure was logged, or is one of those that are left for the end.
    func knows(_ failure: Failure) -> Bool {
        logged.contains(failure.message) || begun.contains { $0.failure.message == failure.message }
    }
}
