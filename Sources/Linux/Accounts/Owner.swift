internal import AppleClientSecret
package import Failures

/// Users and groups as text: `alice (1000)`, or only the number if no name is known.
package enum Owner {
    /// Lets a user give files to a group. No other group is advised: an application may read the file by this one. No user should
    /// join root's, which a file has that root created.
    package static func joining(group: String, user: UInt32) -> Remedy {
        let name = words(user: user)
        if isRoots(group: group) { return leavingRoots(name) }
        if argument(user: user) == Identity.serviceName, let unit = ShellCommand.daemonUnit,
            let command = letGive(unit, to: group)
        {
            return .say("let the service give files to \(words(groupNamed: group))", run: command)
        }
        return .say(
            "add \(name) to \(words(groupNamed: group)) and restart what runs as \(name), or let the directory give that group to "
                + "new files by itself, with that group and mode 2750")
    }

    package static func isRoots(group: String) -> Bool { group == "root" || group == "0" }

    /// Lets a unit give files to a group; nil if there is no such command, or the account database does not have the group.
    package static func letGive(_ unit: String, to group: String) -> ShellCommand? {
        guard let id = try? Accounts.groupID(group), name(ofGroup: id) != nil else { return nil }
        return ShellCommand.letGive(unit, to: group)
    }

    /// For a file with root's group that `user` writes, given in words.
    package static func leavingRoots(_ user: String) -> Remedy {
        .say(
            "give the file, which has root's group, a group that \(user) is in, or write such a \"group\" under the output"
        )
    }

    static func describe(user: UInt32) -> String {
        name(ofUser: user).map { "\($0) (\(user))" } ?? String(user)
    }

    package static func describe(group: UInt32) -> String {
        name(ofGroup: group).map { "\($0) (\(group))" } ?? String(group)
    }

    /// In a sentence a bare name, such as that of the user "nobody", could look like a word: `user "alice"`.
    package static func words(user: UInt32) -> String { words(userNamed: argument(user: user)) }

    package static func words(userNamed name: String) -> String {
        name == "root" ? name : "user \(quoted(name))"
    }

    package static func words(groupNamed name: String) -> String { "group \(quoted(name))" }

    private static func quoted(_ name: String) -> String {
        name.utf8.allSatisfy(\.isASCIIDigit) ? name : "\"\(Printable.line(name))\""
    }

    /// The text by which `as:` names a user: the name, or the number if the name cannot be part of the writer's unit name.
    package static func setting(userNamed name: String) -> String {
        UnitTemplate.isInstance(name) ? name : (try? Accounts.userID(name)).map { String($0) } ?? name
    }

    /// A command's argument: the name, else the number.
    package static func argument(user: UInt32) -> String {
        name(ofUser: user) ?? String(user)
    }

    package static func argument(group: UInt32) -> String {
        name(ofGroup: group) ?? String(group)
    }

    static func name(ofUser user: UInt32) -> String? { (try? Accounts.user(id: user))?.name }

    static func name(ofGroup group: UInt32) -> String? { (try? Accounts.group(id: group))?.name }
}
