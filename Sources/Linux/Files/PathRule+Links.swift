import SystemPackage

/// Through which links a path may go.
extension PathRule {
    /// Checks a link found in `directory`. Returns whether it may lead to another user's file or directory.
    func check(
        link path: FilePath, _ status: FileStatus, in directory: GuardedDirectory, for identity: Identity
    ) throws(FileError) -> Bool {
        if identity.trusts(status.owner), identity.trusts(directory.status.owner) { return true }
        switch self {
        case .publishing: return false
        case .proving: return true
        case .deciding, .keeping:
            throw UntrustedLink(path: path, status: status).error(
                for: identity, hasRemedy: self == .deciding)
        }
    }

    /// Whether a link that was followed belongs to a stranger.
    func isStrangers(_ link: FileStatus, for identity: Identity) -> Bool {
        self == .publishing && !identity.trusts(link.owner)
    }

    /// Whether a followed link belongs to the acting user, which is not root.
    func isOwn(_ link: FileStatus, for identity: Identity) -> Bool {
        self == .publishing && link.owner == identity.user && link.owner != 0
    }
}
