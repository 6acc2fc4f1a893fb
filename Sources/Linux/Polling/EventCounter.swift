import CLinux
import Glibc
import SystemPackage

/// A flag that any thread can raise and a loop can wait for. It stays raised for every waiter until it is cleared.
package final class EventCounter: Sendable {
    private let descriptor: Descriptor

    /// The descriptor to wait for: readable while the flag is raised.
    package var raw: Int32 { descriptor.raw }

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_event_counter_create(), "make an event counter"))
    }

    package func signal() {
        var one: UInt64 = 1
        // Fails only at a count of 2^64 - 2, and then the flag is raised already.
        _ = unsafe write(descriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until the flag is raised, at most `milliseconds`; returns whether it is raised.
    package func wait(atMost milliseconds: Int64) -> Bool {
        Descriptor.ready([descriptor.raw], atMost: milliseconds) == [true]
    }

    package func clear() {
        // Fails only when there is nothing to clear.
        _ = try? readCounter(descriptor.raw, "clear an event counter")
    }
}

/// Reads the eight-byte count of a timer or event counter; `nil` when it is zero now.
func readCounter(_ descriptor: Int32, _ operation: String) throws(SystemError) -> UInt64? {
    var count: UInt64 = 0
    while true {
        if unsafe Glibc.read(descriptor, &count, MemoryLayout<UInt64>.size) == MemoryLayout<UInt64>.size {
            return count
        }
        let cause = Errno(rawValue: errno)
        if cause == .wouldBlock { return nil }
        guard cause == .interrupted else { throw SystemError(operation, errno: cause) }
    }
}
