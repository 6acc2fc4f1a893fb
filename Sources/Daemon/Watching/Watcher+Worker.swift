import Linux
import Model
import SystemPackage

/// The workers' part of the watcher: they add watches, which blocks while a file system does not respond.
extension Watcher {
    /// The result of adding a watch, or of following the links to a file.
    enum Finding: Sendable {
        /// - Parameter isNarrow: watched only for subdirectories that are created, moved or removed.
        case watched(AbsolutePath, Int32, isNarrow: Bool)
        case missing(AbsolutePath)
        case notWatched(AbsolutePath)
        /// All watches that this user may have are in use.
        case noRoom(AbsolutePath)
        case linkChain(Set<AbsolutePath>, of: Resource)
        /// Watching this output's directory gives no notice of the output.
        case notNoticed(AbsolutePath)
        /// Everything is to be read again, because it is now judged by more than before.
        case mayHaveChanged
    }

    /// Everything that changes content, owner or mode, and the end of the directory itself.
    private static let mask: Inotify.Mask = [
        .modified, .attributesChanged, .closedAfterWrite, .movedFrom, .movedTo, .created, .deleted, .deletedSelf,
        .movedSelf, .onlyDirectory, .excludeUnlinked,
    ]
    /// Subdirectories that are created, moved or removed, and changed rights to search them: for directories in which nothing
    /// else is of interest.
    private static let subdirectoryMask: Inotify.Mask = [
        .attributesChanged, .movedFrom, .movedTo, .created, .deletedSelf, .movedSelf, .onlyDirectory, .added,
    ]

    /// Adds a watch, where the file system gives notices. Blocks.
    ///
    /// - Parameter isOnlyAncestor: the directory is of interest only as an ancestor of others.
    static func watch(
        _ directory: AbsolutePath, isNarrow: Bool, isOnlyAncestor: Bool, by inotify: Inotify
    ) -> Finding {
        let path = directory.description
        guard let status = FileStatus.following(path) else { return .missing(directory) }
        guard FileSystems.givesNotice(path) else { return .notWatched(directory) }
        // In a directory where any user creates files, such as /tmp, each one would wake the daemon. Only the owner of a
        // subdirectory can move it.
        guard !(isOnlyAncestor && status.isSticky) else { return .notWatched(directory) }
        do {
            let watch = try inotify.watch(path, for: isNarrow ? Self.subdirectoryMask : Self.mask)
            return .watched(directory, watch, isNarrow: isNarrow)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return .missing(directory)
            case .noSpace: return .noRoom(directory)
            default: return .notWatched(directory)
            }
        }
    }
}
