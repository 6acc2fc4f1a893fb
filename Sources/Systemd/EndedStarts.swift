import Linux

/// Starts that were ordered and ended by themselves at once, without a failure: systemd calls such a unit stopped, but
/// nobody has stopped it, so that it is to be started again.
package final class EndedStarts: Sendable {
    /// The last of each unit, by the number that systemd gave it.
    private let invocations = QuietMutex<[String: [UInt8]]>([:])

    package init() {}

    func add(_ invocation: [UInt8], of unit: String) {
        invocations.withLock { $0[unit] = invocation }
    }

    /// Whether it was this start: whoever has started the unit since may have stopped it as well. Of a unit that nothing
    /// refers to systemd forgets that, and none is given.
    func has(_ invocation: [UInt8], of unit: String) -> Bool {
        invocations.withLock { $0[unit].map { invocation.isEmpty || $0.isEmpty || $0 == invocation } ?? false }
    }

    func remove(_ unit: String) {
        _ = invocations.withLock { $0.removeValue(forKey: unit) }
    }
}
