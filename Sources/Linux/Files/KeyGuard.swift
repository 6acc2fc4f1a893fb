internal import Failures
import SystemPackage

/// Who may use a key file: its owner, who is root or the acting user, may read and write it; the acting user's primary
/// group may read it. Below a trusted directory anybody may read it. Where root acts for the service's user, that user
/// and that user's primary group may as well.
struct KeyGuard {
    private let identity: Identity

    init(_ identity: Identity) {
        self.identity = identity
    }

    func check(_ status: FileStatus, _ path: String) throws(FileError) {
        let isReadByWhomeverItMay = identity.trusts(place: FilePath(path))
        let detail: String
        if !identity.trusts(status.owner) {
            detail = "the file belongs to \(Owner.describe(user: status.owner))"
        } else if status.isWritableByOthers {
            detail = "the file is writable by \(GuardRule.writers(status.mode))"
        } else if isReadByWhomeverItMay {
            return
        } else if status.mode & 0o007 != 0 {
            detail = "the file can be read by everybody"
        } else if status.mode & 0o070 != 0, !identity.mayReadKeys(status.group) {
            detail = "the file can be read by the group \(Owner.describe(group: status.group))"
        } else {
            return
        }
        throw FileError(.notGuarded, at: path, detail: detail, remedy: remedy(status, path))
    }

    /// Keeps the file readable for the user that works with it, through the group where root stays its owner.
    func remedy(_ status: FileStatus, _ path: String) -> Remedy {
        let reader = identity.service?.id ?? identity.user
        let group = identity.service?.primaryGroup ?? identity.group
        var commands: [ShellCommand] = []
        var owner = status.owner
        if !identity.trusts(owner) {
            owner = reader
            commands.append("chown \(Owner.argument(user: owner)) \(path)")
        }
        let byGroup = owner != reader
        if byGroup, status.group != group {
            commands.append("chgrp \(Owner.argument(group: group)) \(path)")
        }
        let mayStay: UInt16 = byGroup || status.group == group ? 0o640 : 0o600
        if status.mode & 0o777 & ~mayStay != 0 || status.mode & 0o400 == 0 || byGroup {
            commands.append("chmod \(byGroup ? "0640" : "0600") \(path)")
        }
        return .run(commands)
    }
}
