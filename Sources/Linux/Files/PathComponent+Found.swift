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

    static func walk(to directory: String, kept keeper: User) -> GuardedDirectory? {
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
