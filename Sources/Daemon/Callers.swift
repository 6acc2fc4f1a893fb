import Rotation
import Synchronization

/// Whoever waits for an answer, by ticket.
final class Callers: Sendable {
    private struct Desk {
        var next: UInt64 = 1
        var waiting: [Ticket: @Sendable (Answer) -> Void] = [:]
    }

    private let desk = Mutex(Desk())

    func admit(_ reply: @escaping @Sendable (Answer) -> Void) -> Ticket {
        desk.withLock { desk in
            let ticket = Ticket(number: desk.next)
            desk.next += 1
            desk.waiting[ticket] = reply
            return ticket
        }
    }

    func answer(_ ticket: Ticket, _ answer: Answer) {
        desk.withLock { $0.waiting.removeValue(forKey: ticket) }?(answer)
    }
}
