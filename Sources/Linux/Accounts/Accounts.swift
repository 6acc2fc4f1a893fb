internal import AppleClientSecret
import CLinux

/// A user that the account database knows.
package struct Account: Hashable, Sendable {
    package let name: String
    package let id: UInt32
    /// Of its processes: a unit may name another one than the account database (`Group=`).
    package var primaryGroup: UInt32
    /// Of its processes, in addition to those that the account database gives it (`SupplementaryGroups=`).
    package var addedGroups: [UInt32] = []
}

/// A group's name and number.
package struct Group: Hashable, Sendable {
    package let name: String
    package let id: UInt32

    package init(name: String, id: UInt32) {
        self.name = name
        self.id = id
    }
}

/// Looks up users and groups. `nil`: no such entry; an error: the database cannot be queried now.
package enum Accounts {
    /// The number that the kernel reports for every user and group without one in this user namespace
    /// (`/proc/sys/kernel/overflowuid`). It may be any user, so it grants nothing.
    package static let overflowID: UInt32 = 65_534

    package static func user(named name: String) throws(SystemError) -> Account? {
        var user: UInt32 = 0
        var group: UInt32 = 0
        let found = unsafe clinux_find_user(name, &user, nil, &group)
        guard try SystemError.check(found, "look up the user \(name)") > 0 else { return nil }
        return Account(name: name, id: user, primaryGroup: group)
    }

    /// The account of the user that a unit or a configuration names. Names are tried before numbers.
    package static func user(called nameOrNumber: String) throws(SystemError) -> Account? {
        if let account = try user(named: nameOrNumber) { return account }
        guard let id = number(nameOrNumber) else { return nil }
        return try user(id: id)
    }

    /// Whether a user that a unit names has no entry, without which systemd does not start the unit. False if the database cannot
    /// be queried.
    package static func isUnknown(user nameOrNumber: String) -> Bool {
        do { return try user(called: nameOrNumber) == nil } catch { return false }
    }

    /// The same for a group. A number needs no entry.
    package static func isUnknown(group nameOrNumber: String) -> Bool {
        do { return try groupID(nameOrNumber) == nil } catch { return false }
    }

    package static func user(id: UInt32) throws(SystemError) -> Account? {
        var name = [CChar](repeating: 0, count: Int(CLINUX_ACCOUNT_NAME))
        var (user, group) = (id, UInt32(0))
        let found = unsafe clinux_find_user(nil, &user, &name, &group)
        guard try SystemError.check(found, "look up the user \(id)") > 0 else { return nil }
        return Account(name: String(zeroTerminated: name), id: id, primaryGroup: group)
    }

    /// Whether a login or a unit of the user puts it in this group; false if the database cannot be queried.
    package static func isMember(_ account: Account, of group: UInt32) -> Bool {
        var groups = [UInt32](repeating: 0, count: Int(CLINUX_MOST_GROUPS))
        let count = unsafe clinux_user_groups(account.name, account.primaryGroup, &groups)
        return count >= 0 && (groups.prefix(Int(count)) + account.addedGroups).contains(group)
    }

    package static func group(named name: String) throws(SystemError) -> Group? {
        var group: UInt32 = 0
        let found = unsafe clinux_find_group(name, &group, nil)
        guard try SystemError.check(found, "look up the group \(name)") > 0 else { return nil }
        return Group(name: name, id: group)
    }

    package static func group(id: UInt32) throws(SystemError) -> Group? {
        var name = [CChar](repeating: 0, count: Int(CLINUX_ACCOUNT_NAME))
        var group = id
        let found = unsafe clinux_find_group(nil, &group, &name)
        guard try SystemError.check(found, "look up the group \(id)") > 0 else { return nil }
        return Group(name: String(zeroTerminated: name), id: id)
    }

    /// The user that a configuration names. Names are tried before numbers, which need no entry.
    package static func userID(_ nameOrNumber: String) throws(SystemError) -> UInt32? {
        try user(named: nameOrNumber)?.id ?? number(nameOrNumber)
    }

    /// The group that a configuration names. Names are tried before numbers, which need no entry.
    package static func groupID(_ nameOrNumber: String) throws(SystemError) -> UInt32? {
        try group(named: nameOrNumber)?.id ?? number(nameOrNumber)
    }

    /// The names in a file such as `/etc/passwd`, which has one in the first field of each line; none if it cannot be read.
    package static func names(in file: String) -> [String] {
        let text = ForeignFile.read(file, limit: 1 << 20) ?? []
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .compactMap { $0.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) }
    }

    /// Digits only; the highest number means "no change" to the kernel, so it is no ID.
    private static func number(_ text: String) -> UInt32? {
        guard text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return UInt32(text).flatMap { $0 == .max ? nil : $0 }
    }
}
