import Model
import Synchronization

/// The callers that wait for an answer, by request ID.
final class WaitingCallers: Sendable {
    private struct Waiting {
        var next: UInt64 = 1
        var waiting: [RequestID: @Sendable (Answer) -> Void] = [:]
    }

    private let state = Mutex(Waiting())

    func admit(_ reply: @escaping @Sendable (Answer) -> Void) -> RequestID {
        state.withLock { state in
            let requestID = RequestID(number: state.next)
            state.next += 1
            state.waiting[requestID] = reply
            return requestID
        }
    }

    func answer(_ requestID: RequestID, _ answer: Answer) {
        state.withLock { $0.waiting.removeValue(forKey: requestID) }?(answer)
    }
}
