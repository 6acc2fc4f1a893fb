import Rotation

/// What is going to happen, in the order in which it will; what was scheduled first comes first.
struct Agenda {
    enum Event {
        /// A job does what it was started for.
        case effect(Job)
        case input(Input)
        /// The daemon is started again.
        case birth
    }

    private var events: [(at: Int64, event: Event)] = []

    var isEmpty: Bool { events.isEmpty }

    /// In milliseconds of the boot clock.
    var nextMoment: Int64? { events.first?.at }

    mutating func add(_ event: Event, at moment: Int64) {
        let index = events.firstIndex { $0.at > moment } ?? events.endIndex
        events.insert((moment, event), at: index)
    }

    /// What is next of that which happens until `moment`.
    mutating func takeNext(until moment: Int64) -> Event? {
        guard let next = nextMoment, next <= moment else { return nil }
        return events.removeFirst().event
    }

    mutating func clear() {
        events = []
    }
}
