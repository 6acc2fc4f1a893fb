internal import Failures
import SystemPackage

/// The requirements on the directories and links on the way to a file.
enum GuardRule {
    /// For files that are published: nobody else may be able to redirect the path.
    case publishing
    /// For keys, and what decides who may use one: every component belongs to root or the acting user, and a directory
    /// that others may write to is accepted only if it is root's own and sticky.
    case deciding
    /// For files whose content is signed: a user who can change the path can only keep the file from being read.
    case proving

    /// Throws for a directory in which somebody else could replace the next name.
    func check(
        directory path: FilePath, _ status: FileStatus, for identity: Identity
    ) throws(FileError) {
        if self == .proving { return }
        if self == .publishing, identity.trusts(place: path) { return }
        let guardedBySticky =
            switch self {
            case .publishing, .proving: status.isSticky
            case .deciding: status.isSticky && status.owner == 0
            }
        let code: FailureCode =
            switch self {
            case .publishing, .proving: .unguardedDirectory
            case .deciding: .notGuarded
            }
        if !identity.trusts(status.owner) {
            // For outputs, taking a directory from an application's user would break the application.
            let remedy: Remedy? = self == .deciding ? .run("chown root \(path.string)") : nil
            throw FileError(
                code, at: path.string, detail: "the directory belongs to \(Owner.describe(user: status.owner))",
                remedy: remedy, owner: self == .publishing ? Owner.argument(user: status.owner) : nil)
        }
        if status.isWritableByOthers, !guardedBySticky {
            throw FileError(
                code, at: path.string, detail: "the directory is writable by \(Self.writers(status.mode))",
                remedy: Self.takeWriting(from: status.mode, path.string))
        }
    }

    /// Checks a link found in `directory`. Returns the owner that its target must have; nil: any will do.
    func check(
        link path: FilePath, _ status: FileStatus, in directory: GuardedDirectory, for identity: Identity
    ) throws(FileError) -> UInt32? {
        if identity.trusts(status.owner), identity.trusts(directory.status.owner) { return nil }
        switch self {
        case .publishing: return status.owner
        case .proving: return nil
        case .deciding:
            throw FileError(
                .notGuarded, at: path.string, detail: "the link belongs to \(Owner.describe(user: status.owner))",
                remedy: .othersFile(path.string))
        }
    }

    /// The command that lets the acting user, and nobody else, into a directory of root's that was given to no other
    /// group.
    func grantingAccess(_ path: FilePath, _ status: FileStatus, for identity: Identity) -> Remedy? {
        // A path that systemd hides (systemd.exec(5), `InaccessiblePaths=`) gives not even root rights: no mode helps.
        guard self == .deciding, status.owner == 0, status.mode & 0o700 != 0,
            status.group == 0 || status.group == identity.group
        else { return nil }
        let group: ShellCommand = "chgrp \(Owner.argument(group: identity.group)) \(path.string)"
        return .run((status.group == identity.group ? [] : [group]) + ["chmod g+rx \(path.string)"])
    }

    /// Who may write besides the owner, in words.
    static func writers(_ mode: UInt16) -> String {
        switch mode & 0o022 {
        case 0o020: "its group"
        case 0o002: "everybody"
        default: "its group and everybody"
        }
    }

    /// The command that takes the right to write from all but the owner.
    static func takeWriting(from mode: UInt16, _ path: String) -> Remedy {
        let classes = (mode & 0o020 != 0 ? "g" : "") + (mode & 0o002 != 0 ? "o" : "")
        return .run("chmod \(classes)-w \(path)")
    }
}
