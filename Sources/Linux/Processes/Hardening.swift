import CLinux

/// What a process gives up for good, so that who takes it over gains less.
package enum Hardening {
    /// No core dump, and no look into this process's memory by others of its user. Before the first key is read.
    package static func forbidInspection() throws(SystemError) {
        try SystemError.check(clinux_forbid_inspection(), "forbid core dumps and debugging")
    }

    /// Neither this process nor a child gains rights from a set-user-id program.
    package static func forbidNewPrivileges() throws(SystemError) {
        try SystemError.check(clinux_forbid_new_privileges(), "give up gaining privileges")
    }

    /// Root becomes this user for good, with all of that user's groups and nobody else's. Before threads are started.
    package static func become(_ account: Account) throws(SystemError) {
        try SystemError.check(
            unsafe clinux_become_user(account.name, account.id, account.primaryGroup), "become the user \(account.name)"
        )
    }
}
