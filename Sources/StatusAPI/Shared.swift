import Rotation
import Synchronization

/// What passes between the rotation's thread and the server's: the snapshot, the policy, and the requests under way.
final class Shared: Sendable {
    private struct State {
        var snapshot: Snapshot?
        var revision = 0
        var control: ControlPolicy
        var pending: Set<UInt64> = []
        var nextTicket: UInt64 = 0
        var isOpen = true
    }

    private let state: Mutex<State>

    init(control: ControlPolicy) {
        state = Mutex(State(control: control))
    }

    var shown: (snapshot: Snapshot?, revision: Int) {
        state.withLock { ($0.snapshot, $0.revision) }
    }

    var control: ControlPolicy {
        get { state.withLock { $0.control } }
        set { state.withLock { $0.control = newValue } }
    }

    /// Whether this is the first.
    func show(_ snapshot: Snapshot) -> Bool {
        state.withLock { state in
            state.snapshot = snapshot
            state.revision += 1
            return state.revision == 1
        }
    }

    /// Whether another request may wait beside those that do.
    func isRoom(_ limit: Int) -> Bool {
        state.withLock { $0.pending.count < limit }
    }

    /// A new request's ticket.
    func open() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            state.pending.insert(state.nextTicket)
            return state.nextTicket
        }
    }

    /// Passes an answer on by `deliver`, once for each ticket and not after the server was closed: its thread takes
    /// nothing then. `deliver` runs under the lock, so that the server cannot close in between.
    func settle(_ requestID: UInt64, by deliver: () -> Void) {
        state.withLock { state in
            guard state.pending.remove(requestID) != nil, state.isOpen else { return }
            deliver()
        }
    }

    /// Whether this is what closed it.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
    }
}
