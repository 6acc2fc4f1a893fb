import Glibc
import NIOCore

enum Readable {
    /// Waits until `descriptor` has data to read or is at its end; false when `deadline` comes first.
    static func wait(for descriptor: Int32, until deadline: NIODeadline) -> Bool {
        while true {
            let left = (deadline - NIODeadline.now()).nanoseconds
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // Rounded up, so that the wait does not end before the deadline.
            let ready = unsafe Glibc.poll(&poll, 1, Int32(clamping: max(0, (left + 999_999) / 1_000_000)))
            if ready > 0 { return true }
            if ready == 0 || errno != EINTR { return false }
        }
    }
}
