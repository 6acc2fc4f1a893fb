import Glibc
import SystemPackage

/// A lock that shows that its holder lives: released when the process ends, however it does.
package enum FileLock {
    /// How long a lock may outlive its holder, in milliseconds: a child that was between fork and exec when the holder
    /// was killed keeps it until exec.
    package static let timeout: Int64 = 2_000
    /// Between two tries, in microseconds.
    private static let interval: UInt32 = 10_000

    /// Locks `path`, which is created when missing; nil when another process still holds the lock after ``timeout``.
    /// Held until the descriptor is closed.
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
        // By the clock, not by the number of pauses: on a busy machine each lasts longer, and a start waits for the state
        // directory for five seconds only.
        let deadline = Deadline(in: timeout)
        while true {
            guard flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 else { return descriptor }
            guard errno == EWOULDBLOCK else { throw FileError(of: Errno(rawValue: errno), at: path) }
            guard !deadline.hasPassed else { return nil }
            usleep(interval)
        }
    }
}
