import SystemPackage

/// A file or directory that is held open, so that a different one under the same name is recognised. While it is open, its inode
/// number is not reused.
package final class HeldFile: Sendable {
    private let path: String
    private let descriptor: Descriptor
    private let status: FileStatus

    /// - Parameter path: the name by which it was opened.
    package init(_ descriptor: consuming Descriptor, at path: String) throws(FileError) {
        let status = try FileStatus(of: descriptor.raw, path: path)
        self.path = path
        self.descriptor = descriptor
        self.status = status
    }

    /// Holds a directory, which need not be readable.
    package convenience init(directory path: String, as identity: Identity) throws(FileError) {
        let place = try GuardedWalk.place(path, .publishing, as: identity)
        guard let handle = try place.directory.step(to: place.name) else {
            throw FileError(of: .noSuchFileOrDirectory, at: path)
        }
        try self.init(handle, at: path)
    }

    /// Whether its path still leads to it. One system call.
    package var isInPlace: Bool { FileStatus.following(path)?.isSameFile(as: status) == true }
}
