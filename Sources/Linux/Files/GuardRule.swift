internal import Failures
import SystemPackage

/// What is asked of the directories and links on the way to a file.
enum GuardRule {
    /// For files that are published: nobody else may be able to turn the path elsewhere.
    case publishing
    /// For what decides who may use a key: every component belongs to root or the user that acts, and a directory that
    /// others may write to is good only if it is root's own and sticky.
    case deciding

    /// Refuses a directory in which somebody else could put another thing at the next name.
    func check(
        directory path: FilePath, _ status: FileStatus, for identity: Identity
    ) throws(FileError) {
        if self == .publishing, identity.trusts(place: path) { return }
        let guardedBySticky =
            switch self {
            case .publishing: status.isSticky
            case .deciding: status.isSticky && status.owner == 0
            }
        let kind: FileError.Kind =
            switch self {
            case .publishing: .unguardedDirectory
            case .deciding: .notGuarded
            }
        if !identity.trusts(status.owner) {
            // Giving away a directory that an application's user owns would break the application.
            let remedy: Remedy? = self == .deciding ? .run("chown root \(path.string)") : nil
            throw FileError(
                kind, at: path.string, detail: "the directory belongs to \(Owner.describe(user: status.owner))",
                remedy: remedy, owner: self == .publishing ? Owner.argument(user: status.owner) : nil)
        }
        if status.isWritableByOthers, !guardedBySticky {
            throw FileError(
                kind, at: path.string, detail: "the directory is writable by \(Self.writers(status.mode))",
                remedy: Self.takeWriting(from: status.mode, path.string))
        }
    }

    /// Judges a link met in `directory`. Returns the owner that whatever it points to has to have; nil: any will do.
    func check(
        link path: FilePath, _ status: FileStatus, in directory: GuardedDirectory, for identity: Identity
    ) throws(FileError) -> UInt32? {
        if identity.trusts(status.owner), identity.trusts(directory.status.owner) { return nil }
        switch self {
        case .publishing: return status.owner
        case .deciding:
            throw FileError(
                .notGuarded, at: path.string, detail: "the link belongs to \(Owner.describe(user: status.owner))",
                remedy: .strangers(path.string))
        }
    }

    /// The command that lets the user that acts, and nobody else, look into a directory of root's that no group was given
    /// yet.
    func letThrough(_ path: FilePath, _ status: FileStatus, for identity: Identity) -> Remedy? {
        // Not even root has rights in what systemd has hidden (systemd.exec(5), `InaccessiblePaths=`): a mode helps nobody.
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
