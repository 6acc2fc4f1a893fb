import Linux
import Rotation
import SystemPackage

/// What workers do for the watcher: they add watches, which blocks while a file system hangs.
extension Watcher {
    /// The result of adding a watch, or of following the links to a file.
    enum Finding: Sendable {
        /// - Parameter isNarrow: watched only for directories that come or go.
        case watched(AbsolutePath, Int32, isNarrow: Bool)
        case missing(AbsolutePath)
        case notWatched(AbsolutePath)
        /// It lies on a file system that gives no notices.
        case silent(AbsolutePath)
        case trail(Set<AbsolutePath>, of: Resource)
        /// Watching this output's directory gives no notice of the output.
        case notNoticed(AbsolutePath)
    }

    /// Everything that changes content, owner or mode, and the end of the directory itself.
    private static let mask: Inotify.Mask = [
        .modified, .attributesChanged, .closedAfterWrite, .movedFrom, .movedTo, .created, .deleted, .deletedSelf,
        .movedSelf, .onlyDirectory, .excludeUnlinked,
    ]
    /// Subdirectories that come or go, and changed rights to search them, for directories in which nothing else is of
    /// interest.
    private static let comingMask: Inotify.Mask = [
        .attributesChanged, .movedFrom, .movedTo, .created, .deletedSelf, .movedSelf, .onlyDirectory, .added,
    ]

    /// Adds a watch, where the file system gives notices. Blocks.
    ///
    /// - Parameter isPassage: the directory is only on the path to others.
    static func watch(
        _ directory: AbsolutePath, isNarrow: Bool, isPassage: Bool, by inotify: borrowing Inotify
    ) -> Finding {
        let path = directory.description
        guard let status = FileStatus.following(path) else { return .missing(directory) }
        guard FileSystems.givesNotice(path) else { return .silent(directory) }
        // In a directory where anybody makes files, such as /tmp, each one would wake the daemon; and only the owner
        // of a subdirectory can move it.
        guard !(isPassage && status.isSticky) else { return .notWatched(directory) }
        do {
            let watch = try inotify.watch(path, for: isNarrow ? Self.comingMask : Self.mask)
            return .watched(directory, watch, isNarrow: isNarrow)
        } catch {
            return error.errno == .noSuchFileOrDirectory ? .missing(directory) : .notWatched(directory)
        }
    }
}
