import Linux

/// Orders given here after which the unit ended by itself, without a failure. systemd calls it stopped, but no user stopped it,
/// so it must be started again.
package final class EndedStarts: Sendable {
    /// Each unit's last such start, by its invocation ID.
    private let invocations = QuietMutex<[String: String]>([:])

    package init() {}

    func add(_ invocation: String, of unit: String) {
        invocations.withLock { $0[unit] = invocation }
    }

    /// Whether it was this start: a user may have started and stopped the unit since. An empty ID matches any, since
    /// systemd forgets the ID of a unit that nothing refers to.
    func has(_ invocation: String, of unit: String) -> Bool {
        invocations.withLock { $0[unit].map { invocation.isEmpty || $0.isEmpty || $0 == invocation } ?? false }
    }

    /// Whether the unit was started again after such a start.
    func hasOther(than invocation: String, of unit: String) -> Bool {
        invocations.withLock { $0[unit].map { !invocation.isEmpty && $0 != invocation } ?? false }
    }

    func remove(_ unit: String) {
        _ = invocations.withLock { $0.removeValue(forKey: unit) }
    }
}
