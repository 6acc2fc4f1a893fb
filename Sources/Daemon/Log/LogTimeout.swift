import Glibc
import Linux

/// How long logging waits for its reader. A busy journal gets a moment. A journal that is slow or not responding, as its disk
/// may be, or a pipe that is not read, must not delay the rotation.
///
/// The rules are:
/// - On the loop's thread, which created this, all waits of a step take a second at most, however many lines it logs. On
///   another thread each wait does.
/// - Lines that are not taken in time are counted. As long as the count is not logged, nothing waits. The next line that is
///   taken comes with the count.
final class LogTimeout: Sendable {
    /// How many events were dropped since the last one that was written.
    private let lost = QuietMutex(0)
    private let loop = pthread_self()
    /// The rest of the loop's timeout in this step, in microseconds.
    private let left = QuietMutex(LogTimeout.timeout)

    /// In microseconds: more than a working journal needs, and too short to matter where it does not work.
    private static let timeout: Int64 = 1_000_000

    /// To be called when the loop begins a step.
    func renew() {
        left.withLock { $0 = Self.timeout }
    }

    /// Waits until a descriptor is writable, as long as time is left.
    func wait(for descriptor: Int32) -> Bool {
        guard lost.withLock({ $0 == 0 }) else { return Descriptor.waitUntilWritable(descriptor, atMost: 0) }
        guard pthread_equal(pthread_self(), loop) != 0 else {
            return Descriptor.waitUntilWritable(descriptor, atMost: Self.timeout / 1_000)
        }
        let began = Clocks.monotonicMicroseconds()
        defer {
            let waited = Clocks.monotonicMicroseconds() - began
            left.withLock { $0 = max(0, $0 - waited) }
        }
        return Descriptor.waitUntilWritable(descriptor, atMost: left.withLock { $0 } / 1_000)
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
