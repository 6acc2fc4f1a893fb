import Model
import Rotation

/// Future events in order of time; those of one moment in the order in which they were scheduled.
struct Agenda {
    enum Event {
        /// A job takes effect.
        case effect(Job)
        case input(Input)
        /// The daemon is started again.
        case birth
    }

    private var events: [(at: Int64, event: Event)] = []

    var isEmpty: Bool { events.isEmpty }

    /// When the next event is due, in milliseconds of the boot clock.
    var nextMoment: Int64? { events.first?.at }

    mutating func add(_ event: Event, at moment: Int64) {
        let index = events.firstIndex { $0.at > moment } ?? events.endIndex
        events.insert((moment, event), at: index)
    }

    /// Removes the next event that is due by `moment`.
    mutating func takeNext(until moment: Int64) -> Event? {
        guard let next = nextMoment, next <= moment else { return nil }
        return events.removeFirst().event
    }

    mutating func clear() {
        events = []
    }
}
