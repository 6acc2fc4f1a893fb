import CLinux
import Glibc

/// Changes this thread's effective user when root acts on another's behalf.
package enum ThreadUser {
    /// Whether this thread may give a file to any owner and group. Root in a unit without capabilities may not.
    package static var mayChangeOwners: Bool { clinux_may_change_owners() != 0 }

    /// Runs `body` as that user; only root may. `body` must not move its work to another thread. A peer to which it
    /// connects sees that user for as long as the connection lasts.
    package static func perform<Value: ~Copyable, Failure: Error>(
        as user: UInt32, otherwise: (SystemError) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let before = geteuid()
        do throws(SystemError) {
            try SystemError.check(clinux_thread_acts_as(user), "act as the user \(user)")
        } catch {
            throw otherwise(error)
        }
        // Cannot fail: the saved user is still the one from before.
        defer { _ = clinux_thread_acts_as(before) }
        return try body()
    }

    /// Runs `body` with exactly this user's rights; only root may. `body` must not move its work to another thread.
    package static func perform<Value>(as account: Account, _ body: () -> Value) throws(SystemError) -> Value {
        let (user, group, groups) = (geteuid(), getegid(), Identity.current().groups)
        // Cannot fail: the saved user is still the one from before.
        defer {
            _ = unsafe groups.withUnsafeBufferPointer {
                unsafe clinux_thread_acts_as_before(user, group, $0.baseAddress, $0.count)
            }
        }
        try SystemError.check(
            unsafe clinux_thread_acts_as_account(
                account.name, account.id, account.primaryGroup, account.addedGroups, account.addedGroups.count),
            "act as the user \(account.name)")
        return body()
    }
}
