import CLinux
internal import Failures
import Glibc
import SystemPackage

/// Whether a directory would take a new file, found without making one.
package enum WritableDirectory {
    /// Why this process could not write a file in the directory at the real path, and give it its name. Nil when no reason is
    /// known. The error's path is the directory.
    ///
    /// - Parameter identity: the user that this process runs as, and the users trusted like root.
    package static func problem(with path: String, as identity: Identity) -> FileError? {
        if let status = FileStatus.following(path) {
            do throws(FileError) { try status.requireChangeable(FilePath(path), for: identity) } catch { return error }
        }
        if let errno = FileStatus.problem(accessing: path, W_OK | X_OK) {
            return FileError(of: errno, at: path)
        }
        return fullDisk(path, identity)
    }

    /// A file system that has no block or no inode left for this user, or whose quota has none.
    private static func fullDisk(_ path: String, _ identity: Identity) -> FileError? {
        DiskTimeout.value(at: path) {
            // The counts include blocks that no user gets, such as ext4's own, and know no quota.
            let error = Errno(rawValue: -(unsafe clinux_path_takes_block(path)))
            if error == .noSpace || error == .diskQuotaExceeded { return FileError(of: error, at: path) }
            // Not every file system has files without a name.
            guard error.rawValue != 0 else { return nil }
            var found = statvfs()
            guard unsafe statvfs(path, &found) == 0 else { return nil }
            // Some blocks are for root only.
            let isRoot = identity.user == 0
            let (blocks, inodes) = isRoot ? (found.f_bfree, found.f_ffree) : (found.f_bavail, found.f_favail)
            // It is about the directory's content, which may be on another file system.
            let remedy = FailureCode.diskFull.remedy(for: FailureSubject(path: path + "/"))
            if found.f_blocks > 0, blocks == 0 { return FileError(.diskFull, at: path, remedy: remedy) }
            guard found.f_files > 0, inodes == 0 else { return nil }
            return FileError(.diskFull, at: path, detail: "it has no inode left", remedy: remedy)
        } ?? nil
    }
}

extension FileStatus {
    /// Throws for an immutable or append-only file, which nothing can replace, and for such a directory, in which nothing can be
    /// renamed.
    func requireChangeable(_ path: FilePath, for identity: Identity) throws(FileError) {
        guard isImmutable || isAppendOnly else { return }
        let mark = isImmutable ? "i" : "a"
        let command = ShellCommand.removeMark(mark, from: PathComponent(path, self, for: identity))
        // Only root may, and not by a path at which another user could put something else.
        let tool = command == nil ? " with chattr -\(mark), as root" : ""
        let words = "remove the attribute\(tool), if nothing else needs it"
        guard kind == .directory else {
            throw FileError(
                .isImmutable, at: path.string, detail: isImmutable ? nil : "append-only",
                remedy: .say(words, run: command))
        }
        // It protects other files too, so that the operator decides.
        throw FileError(
            .isImmutable, at: path.string, detail: "the directory is \(isImmutable ? "immutable" : "append-only")",
            remedy: .say(words, see: command))
    }
}
