import Linux
import Rotation
import SystemPackage

/// What workers do for the watcher: they ask for watches, which a file system that hangs would hold up.
extension Watcher {
    /// What came of asking for a watch, or of following the links to a file.
    enum Finding: Sendable {
        /// - Parameter isNarrow: it tells only of what comes and goes.
        case watched(AbsolutePath, Int32, isNarrow: Bool)
        case missing(AbsolutePath)
        case notWatched(AbsolutePath)
        /// It lies on a file system that tells nothing.
        case silent(AbsolutePath)
        case trail(Set<AbsolutePath>, of: Resource)
        /// Watching the directory of this output tells nothing of it.
        case notNoticed(AbsolutePath)
    }

    /// Everything by which content, owner or mode can change, and the directory's own end.
    private static let mask: Inotify.Mask = [
        .modified, .attributesChanged, .closedAfterWrite, .movedFrom, .movedTo, .created, .deleted, .deletedSelf,
        .movedSelf, .onlyDirectory, .excludeUnlinked,
    ]
    /// What tells that a directory has come or gone, or may be gone through by others than before, in one in which
    /// nothing else is of interest.
    private static let comingMask: Inotify.Mask = [
        .attributesChanged, .movedFrom, .movedTo, .created, .deletedSelf, .movedSelf, .onlyDirectory, .added,
    ]

    /// Asks for a watch, as far as one tells anything. Blocks.
    ///
    /// - Parameter isPassage: the directory is merely gone through.
    static func watch(
        _ directory: AbsolutePath, isNarrow: Bool, isPassage: Bool, by inotify: borrowing Inotify
    ) -> Finding {
        let path = directory.description
        guard let status = FileStatus.following(path) else { return .missing(directory) }
        guard FileSystems.givesNotice(path) else { return .silent(directory) }
        // Where anybody makes files, as in /tmp, each one would wake the daemon; and only the owner of what is gone
        // through there can move it.
        guard !(isPassage && status.isSticky) else { return .notWatched(directory) }
        do {
            let watch = try inotify.watch(path, for: isNarrow ? Self.comingMask : Self.mask)
            return .watched(directory, watch, isNarrow: isNarrow)
        } catch {
            return error.errno == .noSuchFileOrDirectory ? .missing(directory) : .notWatched(directory)
        }
    }
}
