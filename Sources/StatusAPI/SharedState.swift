import Linux
import Model

/// The state that the threads of the rotation and the server share: the snapshot, the control policy, and the requests under way.
final class SharedState: Sendable {
    private struct State {
        var snapshot: Snapshot?
        var control: ControlPermission
        var pending: Set<RequestID> = []
        var nextRequestID: UInt64 = 0
        var isOpen = true
    }

    private let state: QuietMutex<State>

    init(control: ControlPermission) {
        state = QuietMutex(State(control: control))
    }

    var snapshot: Snapshot? { state.withLock { $0.snapshot } }

    var control: ControlPermission {
        get { state.withLock { $0.control } }
        set { state.withLock { $0.control = newValue } }
    }

    /// Replaces the snapshot; true when it is the first.
    func show(_ snapshot: Snapshot) -> Bool {
        state.withLock { state in
            defer { state.snapshot = snapshot }
            return state.snapshot == nil
        }
    }

    /// Whether fewer than `limit` requests await an answer.
    func isRoom(_ limit: Int) -> Bool {
        state.withLock { $0.pending.count < limit }
    }

    /// The id of a new request.
    func open() -> RequestID {
        state.withLock { state in
            state.nextRequestID += 1
            let requestID = RequestID(number: state.nextRequestID)
            state.pending.insert(requestID)
            return requestID
        }
    }

    /// Calls `deliver` once for each request id, and never after ``close()``: the server's thread accepts no work then.
    /// `deliver` runs under the lock, so that the server cannot close in between.
    func settle(_ requestID: RequestID, by deliver: () -> Void) {
        state.withLock { state in
            guard state.pending.remove(requestID) != nil, state.isOpen else { return }
            deliver()
        }
    }

    /// Closes it; true when it was open until now.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
    }
}
