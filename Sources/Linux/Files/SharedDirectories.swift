import CLinux
import SystemPackage

/// The directories that were walked to within the last second, so that ten thousand files written at once into one
/// directory do not each walk the whole path to it.
///
/// It holds no directory open, so that an idle process keeps no file system from being unmounted.
package final class SharedDirectories: Sendable {
    private struct Way: Hashable {
        let path: String
        let identity: Identity
    }

    private struct Entry {
        let status: FileStatus
        let walkedAt: Int64
        /// Set while a job holds it: jobs that share it share its syncs, too.
        weak var directory: GuardedDirectory?
    }

    /// How long a walk's checks of the directories on the way stay valid (milliseconds). Each use checks again that the
    /// path ends in the same directory, with nothing changed that the rules judge.
    private static let trustedFor: Int64 = 1_000

    private let entries = QuietMutex<[Way: Entry]>([:])

    package init() {}

    /// The directory of this path, if it was walked to just now and the path, without any link, still leads there.
    func directory(_ path: String, as identity: Identity) -> GuardedDirectory? {
        let way = Way(path: path, identity: identity)
        guard let entry = entries.withLock({ $0[way] }), Clocks.bootMilliseconds() - entry.walkedAt < Self.trustedFor
        else { return nil }
        if let held = entry.directory {
            return FileStatus.following(way.path)?.isJudgedLike(entry.status) == true ? held : nil
        }
        let raw = unsafe clinux_path_open_whole(path)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(adopting: raw)
        guard let status = try? FileStatus(of: descriptor.raw, path: way.path), status.isJudgedLike(entry.status) else {
            return nil
        }
        let directory = GuardedDirectory(descriptor, status: status, path: FilePath(path), above: nil)
        return entries.withLock { entries in
            // Another thread may have opened it meanwhile.
            if let held = entries[way]?.directory { return held }
            entries[way]?.directory = directory
            return directory
        }
    }

    /// Records a directory that a walk without links has just reached.
    func note(_ directory: GuardedDirectory, as identity: Identity) {
        let now = Clocks.bootMilliseconds()
        let entry = Entry(status: directory.status, walkedAt: now, directory: directory)
        entries.withLock { entries in
            entries = entries.filter { now - $0.value.walkedAt < Self.trustedFor }
            entries[Way(path: directory.path.string, identity: identity)] = entry
        }
    }
}
