internal import Failures
import SystemPackage

/// Another user than root and the acting user that may decide what a file holds.
enum UntrustedAuthor: Sendable {
    case owner(UInt32)
    case listed([AccessList.Stranger])
    /// The mode's bits that give rights to others.
    case mode(UInt16)

    /// Nil if no other user may.
    init?(
        of status: FileStatus, _ handle: Int32, _ path: String, as identity: Identity
    ) throws(FileError) {
        guard identity.trusts(status.owner) else {
            self = .owner(status.owner)
            return
        }
        // Without this right for the group, which is the mask, no entry has an effect.
        let list = status.mode & 0o020 == 0 ? nil : try AccessList(of: handle, path: path)
        let strangers = list?.strangers(to: identity, group: status.group, readersToo: false) ?? []
        let mode = status.othersMode(with: list)
        if !strangers.isEmpty {
            self = .listed(strangers)
        } else if mode & 0o022 != 0 {
            self = .mode(mode)
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - isOpen: whether other users may write to the file's directory.
    ///   - file: the file if a command may close it.
    func error(at path: String, inOpenDirectory isOpen: Bool, closing file: PathComponent?) -> FileError {
        let look = "look at what they may have written there, then"
        switch self {
        case .owner(let owner):
            // A person must look at another user's file before it is trusted: no command does that.
            return FileError(
                .notGuarded, at: path, detail: "the file belongs to \(Owner.describe(user: owner))",
                remedy: isOpen
                    ? .strangers(path)
                    : .say(
                        "look at what \(Owner.words(user: owner)) put there, then replace it with a copy that root owns",
                        see: .list(path)))
        case .listed(let strangers):
            return FileError(
                .notGuarded, at: path, detail: strangers.first?.detail,
                remedy: .say(
                    "\(look) remove them from its access list",
                    see: file.flatMap { .removeEntries(strangers.compactMap(\.entry), ofFile: $0) }))
        case .mode(let mode):
            return FileError(
                .notGuarded, at: path, detail: "the file is writable by \(PathRule.writers(mode))",
                remedy: .say("\(look) remove their write permission", see: file.flatMap(ShellCommand.removeWriting)))
        }
    }
}
