import CLinux
internal import Failures
import SystemPackage

/// Where a walk ended: a name in a directory that is held open, and the file found there.
struct GuardedPlace {
    let directory: GuardedDirectory
    let name: FilePath.Component
    /// Nil: nothing has this name.
    let found: FileStatus?
    /// The real path: links are followed.
    let path: String

    init(directory: GuardedDirectory, name: FilePath.Component, found: FileStatus?) {
        self.directory = directory
        self.name = name
        self.found = found
        path = directory.path(of: name)
    }

    /// Whether the process may execute what was found.
    func isExecutable() throws(FileError) -> Bool {
        guard let found, let handle = try directory.step(to: name) else { return false }
        guard try FileStatus(of: handle.raw, path: path).isSameFile(as: found) else {
            throw FileError(.changedMeanwhile, at: path)
        }
        return try checked(clinux_path_may_execute(handle.raw), path) == 1
    }

    /// Throws if the file that was read no longer has this name as its only one.
    ///
    /// Otherwise a second name that is removed between opening and checking would go unnoticed. As removing it also
    /// changes ctime, nobody can have another file read.
    func confirm(_ read: FileStatus) throws(FileError) {
        guard let now = try directory.status(of: name), now.identity == read.identity, now.links == 1 else {
            throw FileError(.changedMeanwhile, at: path)
        }
    }
}
