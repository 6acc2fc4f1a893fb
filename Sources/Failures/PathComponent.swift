/// The file, directory or link that a failure is about, as it was found. Commands that change something are built from it.
package struct PathComponent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file
        case directory
        case link
        case other
    }

    /// A user, by number and by the name that a command uses.
    package struct User: Hashable, Sendable {
        package let id: UInt32
        package let name: String

        package init(id: UInt32, name: String) {
            self.id = id
            self.name = name
        }

        package static let root = User(id: 0, name: "root")
    }

    /// The real path: links are resolved.
    package let path: String
    package let kind: Kind
    package let owner: UInt32
    package let group: UInt32
    /// Permission, set-id and sticky bits.
    package let mode: UInt16
    /// Whether its owner is root, the daemon's user or the acting user.
    package let isTrusted: Bool
    /// Whether a POSIX access list grants more than the mode, or a directory passes one to its new files.
    package let hasAccessList: Bool
    /// The user that, like root, controls all directories on the way. So no other user can put something else at the path before
    /// the command runs. Root, if root owns all of them. Nil: another user could.
    package let keeper: User?

    package init(
        path: String, kind: Kind, owner: UInt32, group: UInt32, mode: UInt16, isTrusted: Bool,
        hasAccessList: Bool = false, keeper: User?
    ) {
        self.path = path
        self.kind = kind
        self.owner = owner
        self.group = group
        self.mode = mode
        self.isTrusted = isTrusted
        self.hasAccessList = hasAccessList
        self.keeper = keeper
    }
}
