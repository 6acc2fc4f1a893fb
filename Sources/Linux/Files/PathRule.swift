internal import Failures
import SystemPackage

/// The requirements on the directories and links on the way to a file.
enum PathRule {
    /// For files that are published: no other user may be able to redirect the path.
    case publishing
    /// For keys, and for files that decide about their use. Every component belongs to root or the acting user. A directory that
    /// others may write to is accepted only if it is root's own and sticky.
    case deciding
    /// For files whose content is signed: a user that can change the path can only keep the file from being read.
    case proving
    /// The same as deciding, for the paths of a remedy's command; its errors have no remedies.
    case keeping

    /// Throws for a directory in which another user could replace the next name.
    ///
    /// - Parameter handle: the directory's.
    func check(
        directory path: FilePath, _ status: FileStatus, _ handle: Int32, for identity: Identity
    ) throws(FileError) {
        if self == .proving { return }
        if self == .publishing, identity.trusts(place: path) { return }
        let guardedBySticky = status.isSticky && (self == .publishing || status.owner == 0)
        let code: FailureCode = self == .publishing ? .unguardedDirectory : .notGuarded
        if !identity.trusts(status.owner) {
            throw FileError(
                code, at: path.string, detail: "the directory belongs to \(Owner.describe(user: status.owner))",
                remedy: self == .deciding ? Self.moving : nil,
                owner: self == .publishing ? Owner.argument(user: status.owner) : nil)
        }
        guard status.isWritableByOthers, !guardedBySticky else { return }
        // One that cannot be read counts as none: the mode then says more than it allows.
        let list = (try? AccessList(of: handle, path: path.string)) ?? nil
        let mode = status.othersMode(with: list)
        if mode & 0o022 != 0 {
            throw FileError(
                code, at: path.string, detail: "the directory is writable by \(Self.writers(mode))",
                remedy: self == .publishing ? Self.closing : Self.moving)
        }
        let strangers = list?.strangers(to: identity, group: status.group, readersToo: false) ?? []
        guard let stranger = strangers.first else { return }
        throw FileError(
            code, at: path.string, detail: stranger.detail,
            remedy: self == .keeping ? nil : closing(strangers, path, status, for: identity))
    }

    /// The remedy that removes a directory's access-list entries for these users.
    private func closing(
        _ strangers: [AccessList.Stranger], _ path: FilePath, _ status: FileStatus, for identity: Identity
    ) -> Remedy {
        let place = self == .publishing ? "write another path" : "keep the file elsewhere"
        let directory = PathComponent(path, status, for: identity)
        return .say(
            "\(place), or remove them from its access list, if they need not write there",
            see: .removeWriters(strangers.map(\.entry), ofDirectory: directory))
    }

    /// There is no command for a directory that exists, because its other files may depend on its owner and mode.
    private static let moving = Remedy.say(
        "let only root or the daemon's user write there, or keep the file below directories where that is so")

    private static let closing = Remedy.say(
        "write another path, or remove write permission for its group and others, if nothing needs it")

    /// The package's directory for the configuration and keys.
    private static let place: FilePath = "/etc/clientsecretd"

    /// The remedy that lets this process's user into a directory. Its mode may protect other files in it.
    func grantingAccess(_ path: FilePath) -> Remedy? {
        guard self == .deciding else { return nil }
        let user = Owner.words(user: Identity.current().user)
        let name = Printable.name(path.string)
        return .say(
            Self.place.starts(with: path)
                ? "\(user) may not enter \(name): let this user enter it"
                : "\(user) may not enter \(name): keep the file elsewhere, such as in \(Self.place)")
    }

    /// Which users other than the owner may write, in words.
    static func writers(_ mode: UInt16) -> String {
        switch mode & 0o022 {
        case 0o020: "its group"
        case 0o002: "every user"
        default: "its group and every other user"
        }
    }
}
