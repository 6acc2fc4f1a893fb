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

    /// Runs `body`, which may not hand its work to another thread, with all that this user may do and no more; root alone
    /// may. Root's supplementary groups are gone for good.
    package static func perform<Value>(as account: Account, _ body: () -> Value) throws(SystemError) -> Value {
        let (user, group) = (geteuid(), getegid())
        // The way back is always open: the saved user is still the one from before.
        defer { _ = clinux_thread_acts_as_before(user, group) }
        try SystemError.check(
            unsafe clinux_thread_acts_as_account(account.name, account.id, account.primaryGroup),
            "act as the user \(account.name)")
        return body()
    }
}
