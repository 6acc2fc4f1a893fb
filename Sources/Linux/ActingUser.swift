import CLinux
import Glibc

/// Whom the kernel takes this thread for, where root asks on another user's behalf.
package enum ActingUser {
    /// Runs `body`, which may not hand its work to another thread, as that user; root alone may. A peer that is connected
    /// to meanwhile sees that user for as long as the connection lasts.
    package static func perform<Value: ~Copyable, Failure: Error>(
        as user: UInt32, otherwise: (SystemError) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let before = geteuid()
        do throws(SystemError) {
            try SystemError.check(clinux_thread_acts_as(user), "act as the user \(user)")
        } catch {
            throw otherwise(error)
        }
        // The way back is always open: the saved user is still the one from before.
        defer { _ = clinux_thread_acts_as(before) }
        return try body()
    }
}
