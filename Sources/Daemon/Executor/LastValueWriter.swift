import Linux

/// The last of several values given by threads is written in the end. One value is written at a time.
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
