import Linux

/// The users that may read some outputs, by the owners and modes of their files: whose processes may hold the secrets.
struct OutputReaders: Hashable, Sendable {
    /// Nil if every user may.
    let users: Set<UInt32>?
    /// The groups whose members may.
    var groups: Set<UInt32> = []

    /// Whether a process of this user and in these groups may read one of the outputs; nil: the process has ended.
    func include(user: UInt32?, groups: Set<UInt32>) -> Bool {
        guard let users else { return true }
        return user.map(users.contains) == true || !self.groups.isDisjoint(with: groups)
    }
}

extension OutputReaders {
    /// - Parameter files: with an access list, or readable for all, a file makes every user a reader.
    init(of files: [(path: String, status: FileStatus)] = []) {
        let isForAll = files.contains { $0.status.mode & 0o004 != 0 || FileStatus.hasAccessList($0.path) }
        self.init(
            users: isForAll ? nil : Set(files.map(\.status.owner) + [0]),
            groups: Set(files.filter { $0.status.mode & 0o040 != 0 }.map(\.status.group)))
    }
}
