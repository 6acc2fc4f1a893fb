import Glibc
import SystemPackage

/// A lock that says that somebody lives: it goes with the process, however that ends.
package enum FileLock {
    /// Locks `path`, which is made when it is missing; nil when somebody else holds it. Held until the descriptor is
    /// closed.
    ///
    /// The directory must be one that only this user can write to: the file is opened by its path.
    package static func take(_ path: String) throws(FileError) -> Descriptor? {
        let raw: Int32
        do {
            raw = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .closeOnExec, .noFollow], permissions: [.ownerReadWrite]
            ).rawValue
        } catch {
            throw FileError(of: (error as? Errno) ?? .ioError, at: path)
        }
        let descriptor = Descriptor(adopting: raw)
        guard flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 else { return descriptor }
        if errno == EWOULDBLOCK { return nil }
        throw FileError(of: Errno(rawValue: errno), at: path)
    }
}
