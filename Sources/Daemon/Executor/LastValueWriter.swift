import Linux

/// A value that is to be written in the end, where threads give several: one is written at a time, and the last one given last.
final class LastValueWriter<Value: Sendable>: Sendable {
    private let given = QuietMutex<Value?>(nil)
    private let taking = QuietMutex<Void>(())

    func put(_ value: Value) { given.withLock { $0 = value } }

    /// Has `write` write the value given last, unless that was done. Blocks.
    func take(_ write: (Value) -> Void) {
        taking.withLock { _ in
            let value = given.withLock { given in
                defer { given = nil }
                return given
            }
            if let value { write(value) }
        }
    }
}
