internal import Linux
package import Model

extension AbsolutePath {
    /// Its parent directories, the nearest first, without the root.
    var directories: [AbsolutePath] {
        var result: [AbsolutePath] = []
        var next = directory
        while next.description != "/" {
            result.append(next)
            next = next.directory
        }
        return result
    }

    /// Whether every user may read the file, and go through the directories to it; false for none.
    package var isReadableByAll: Bool {
        FileStatus.following(description).map { $0.mode & 0o004 != 0 } == true
            && directories.allSatisfy { FileStatus.following($0.description).map { $0.mode & 0o001 != 0 } == true }
    }
}
