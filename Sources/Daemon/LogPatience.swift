import Linux

/// How long the daemon waits for whoever reads its log: a journal that is busy is given a moment; one that hangs, as its
/// disk may, or a pipe that nobody empties, must not hold up what the daemon is there for.
final class LogPatience: Sendable {
    /// Entries that nobody has read since the last one that was.
    private let lost = QuietMutex(0)

    /// In milliseconds: more than a journal needs that works, and a delay that nobody feels where it does not.
    private static let patience: Int32 = 1_000

    /// Waits until a descriptor takes more. Once it did not in time, it is not waited for until it does again.
    func wait(for descriptor: Int32) -> Bool {
        let isPatient = lost.withLock { $0 == 0 }
        return Descriptor.waitUntilWritable(descriptor, atMost: isPatient ? Self.patience : 0)
    }

    func lose(_ count: Int = 1) {
        lost.withLock { $0 += count }
    }

    /// How many were lost before one that was written; to be told then.
    func takeLost() -> Int {
        lost.withLock { lost in
            defer { lost = 0 }
            return lost
        }
    }
}
