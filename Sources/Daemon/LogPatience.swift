import Linux

/// How long logging waits for its reader: a busy journal is given a moment; one that hangs, as its disk may, or a pipe
/// that nobody reads must not delay the rotation.
final class LogPatience: Sendable {
    /// Log events dropped since the last one that was written.
    private let lost = QuietMutex(0)

    /// In milliseconds: more than a working journal needs, and too short to matter where it does not work.
    private static let patience: Int32 = 1_000

    /// Waits until a descriptor is writable. After a timeout, calls do not wait until an event was written again.
    func wait(for descriptor: Int32) -> Bool {
        let isPatient = lost.withLock { $0 == 0 }
        return Descriptor.waitUntilWritable(descriptor, atMost: isPatient ? Self.patience : 0)
    }

    func lose(_ count: Int = 1) {
        lost.withLock { $0 += count }
    }

    /// Returns and resets the count, after an event was written.
    func takeLost() -> Int {
        lost.withLock { lost in
            defer { lost = 0 }
            return lost
        }
    }
}
