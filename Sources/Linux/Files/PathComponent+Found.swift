package import Failures
import SystemPackage

extension PathComponent {
    /// The file found at the real path `path`.
    ///
    /// - Parameter identity: the user whose rights were used, and the users trusted like root.
    init(_ path: FilePath, _ status: FileStatus, for identity: Identity) {
        let directory = path.removingLastComponent()
        var keeper = Self.keeper(of: directory.string, for: identity)
        // In a sticky directory another user cannot replace a file, but may have placed a second name of it.
        if status.kind == .regular, FileStatus.following(directory.string)?.isWritableByOthers != false { keeper = nil }
        self.init(path, status, for: identity, keeper: keeper)
    }

    /// The directory that the absolute path leads to; nil if there is none, or a stranger controls the way.
    package init?(directory path: String, for identity: Identity) {
        self.init(at: path, for: identity) { keeper in
            Self.walk(to: path, kept: keeper).map { PathComponent($0.path, $0.status, for: identity, keeper: keeper) }
        }
    }

    /// The regular file that the absolute path leads to; nil if there is none, or a stranger controls the way.
    package init?(file path: String, for identity: Identity) {
        self.init(at: path, for: identity) { keeper in
            guard let place = try? GuardedWalk.place(path, .keeping, as: Identity(keeper)), let found = place.found,
                found.kind == .regular
            else { return nil }
            return PathComponent(FilePath(place.path), found, for: identity)
        }
    }

    /// The first one found, with the users that may keep the way.
    private init?(at path: String, for identity: Identity, _ find: @escaping @Sendable (User) -> PathComponent?) {
        let found = DiskTimeout.value(at: path) { () -> PathComponent? in
            for keeper in Self.keepers(identity) {
                if let found = find(keeper) { return found }
            }
            return nil
        }
        guard let found = found ?? nil else { return nil }
        self = found
    }

    private init(_ path: FilePath, _ status: FileStatus, for identity: Identity, keeper: User?) {
        let kind: Kind =
            switch status.kind {
            case .regular: .file
            case .directory: .directory
            case .link: .link
            case .fifo, .socket, .device: .other
            }
        self.init(
            path: path.string, kind: kind, owner: status.owner, group: status.group, mode: status.mode,
            isTrusted: identity.trusts(status.owner),
            hasAccessList: FileStatus.hasAccessList(path.string), keeper: keeper)
    }

    private static func keeper(of directory: String, for identity: Identity) -> User? {
        keepers(identity).first { walk(to: directory, kept: $0) != nil }
    }

    private static func keepers(_ identity: Identity) -> [User] {
        [.root]
            + [identity.user, identity.service?.id].compactMap { id in
                id.flatMap { $0 == 0 ? nil : User($0) }
            }
    }

    fileprivate static func walk(to directory: String, kept keeper: User) -> GuardedDirectory? {
        try? GuardedWalk.directory(directory, .keeping, as: Identity(keeper))
    }
}

extension PathComponent.User {
    /// Nil for a number without a name: commands take names.
    package init?(_ id: UInt32) {
        guard let name = Owner.name(ofUser: id) else { return nil }
        self.init(id: id, name: name)
    }
}

extension Identity {
    /// Trusts only root.
    fileprivate init(_ user: PathComponent.User) {
        self.init(user: user.id, group: user.id)
    }
}

/// Why no command creates a missing directory.
package enum DirectoryObstacle: Error, Hashable, Sendable {
    /// systemd makes it for a unit, and gives it to that unit's user.
    case ofUnit(UnitDirectory)
    /// Another user may create names in this directory above it, or an access list there would go to the new one.
    case open(String)
    /// A reboot removes it, and root cannot safely make it at each boot.
    case volatile
    /// Nothing is missing, a stranger controls the way, or the user could not pass.
    case other
}

extension ShellCommand {
    /// Creates the missing directories of the absolute path `directory` for the user that will write there. If a reboot removes
    /// them, it does so at every boot.
    ///
    /// - Parameter group: nil: the one that it gets from the directory above.
    package static func making(
        _ directory: String, for user: UInt32, mode: String = "0755", group: String? = nil
    ) throws(DirectoryObstacle) -> ShellCommand {
        guard let owner = PathComponent.User(user) else { throw .other }
        var missing = Array(FilePath(directory).components)[...]
        var above = FilePath("/")
        while let name = missing.first, !FileStatus.isAbsent(above.appending(name).string) {
            above.append(name)
            missing.removeFirst()
        }
        guard let first = missing.first else { throw .other }
        let keepers = user == 0 ? [PathComponent.User.root] : [.root, owner]
        for keeper in keepers {
            guard let parent = PathComponent.walk(to: above.string, kept: keeper) else { continue }
            // A link that leads nowhere has the name already.
            guard parent.lets(user), parent.isFree(first) else { throw .other }
            let component = PathComponent(
                path: parent.path.string, kind: .directory, owner: parent.status.owner, group: parent.status.group,
                mode: parent.status.mode, isTrusted: true, hasAccessList: parent.hasAccessList, keeper: keeper)
            let path = parent.path.pushing(FilePath(root: nil, missing)).string
            if let made = UnitDirectory.of(path, missingIn: component.path) { throw .ofUnit(made) }
            guard component.isKeptDirectory else { throw .open(component.path) }
            let isVolatile = FileSystems.isVolatile(component.path)
            let command = makeDirectory(
                path, from: parent.path.appending(first).string, in: component, for: owner, mode: mode, group: group,
                isVolatile: isVolatile)
            guard let command else { throw isVolatile ? .volatile : .other }
            return command
        }
        throw .other
    }
}

extension GuardedDirectory {
    fileprivate func isFree(_ name: FilePath.Component) -> Bool {
        do throws(FileError) { return try status(of: name) == nil } catch { return false }
    }

    /// Whether an access list grants more than its mode or passes to new files in it. Also true if that is unknown.
    fileprivate var hasAccessList: Bool {
        let attributes = ExtendedAttributes(of: descriptor.raw, path: path.string)
        do throws(FileError) {
            for name in [AccessList.attribute, AccessList.defaultAttribute] {
                if try attributes.value(name) != nil { return true }
            }
            return false
        } catch {
            return true
        }
    }

    /// Whether the mode bits of it and all directories above let a user without further groups pass.
    fileprivate func lets(_ user: UInt32) -> Bool {
        let bits: UInt16 = status.owner == user ? 0o100 : 0o001
        return user == 0 || (status.mode & bits != 0 && above?.lets(user) != false)
    }
}
