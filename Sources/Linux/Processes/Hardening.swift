import CLinux

/// Rights that a process gives up for good, so that an attacker gains less.
package enum Hardening {
    /// Disables core dumps, and access to this memory by others of its user. Call before reading the first key.
    package static func forbidInspection() throws(SystemError) {
        try SystemError.check(clinux_forbid_inspection(), "forbid core dumps and debugging")
    }

    /// This process and its children gain no rights from a set-user-id program.
    package static func forbidNewPrivileges() throws(SystemError) {
        try SystemError.check(clinux_forbid_new_privileges(), "give up gaining privileges")
    }

    /// Turns root into this user for good, with exactly that user's groups: this thread and those that it starts. Call before
    /// starting others that stay.
    package static func become(_ account: Account) throws(SystemError) {
        DiskTimeout.endReaders()
        try SystemError.check(
            unsafe clinux_become_user(
                account.name, account.id, account.primaryGroup, account.addedGroups, account.addedGroups.count),
            "become the user \(account.name)")
    }
}
