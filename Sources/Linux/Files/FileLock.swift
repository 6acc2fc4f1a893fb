import Glibc
import SystemPackage

/// A lock that shows that its holder still runs: released when the process ends, however it does.
package enum FileLock {
    /// Between two tries, in microseconds.
    private static let interval: UInt32 = 10_000

    /// The process that holds the lock of `path`; nil if none does. Also nil if the kernel counts another device for the file
    /// than it shows, as in some overlays (proc_locks(5)).
    package static func holder(of path: String) -> Int32? {
        guard let file = FileStatus.following(path)?.identity,
            let table = ForeignFile.read("/proc/locks", limit: 1 << 20)
        else { return nil }
        // makedev(3)
        let major = file.device >> 8 & 0xFFF | file.device >> 32 & ~0xFFF
        let minor = file.device & 0xFF | file.device >> 12 & ~0xFF
        for line in table.split(separator: UInt8(ascii: "\n")) {
            // 1: FLOCK ADVISORY WRITE 529 fe:00:131 0 EOF
            let parts = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard parts.count > 5, parts[1] == "FLOCK" else { continue }
            let place = parts[5].split(separator: ":")
            if place.count == 3, UInt64(place[0], radix: 16) == major, UInt64(place[1], radix: 16) == minor,
                UInt64(place[2]) == file.inode
            {
                return Int32(parts[4])
            }
        }
        return nil
    }

    /// Locks `path`, which is created when missing; nil when another process still holds the lock after so many milliseconds.
    /// Held until the descriptor is closed.
    ///
    /// The directory must be one that only this user can write to: the file is opened by its path.
    package static func take(_ path: String, waiting timeout: Int64) throws(FileError) -> Descriptor? {
        let raw: Int32
        do {
            raw = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .closeOnExec, .noFollow], permissions: [.ownerReadWrite]
            ).rawValue
        } catch {
            throw FileError(of: (error as? Errno) ?? .ioError, at: path)
        }
        let descriptor = Descriptor(adopting: raw)
        return try lock(descriptor.raw, path, timeout) ? consume descriptor : nil
    }

    /// Locks a file that is there and need not be writable; nil as for ``take(_:waiting:)``. The kernel asks for no right to write,
    /// but some network file systems do.
    package static func takeFile(_ path: String, waiting timeout: Int64) throws(FileError) -> Descriptor? {
        let descriptor = try ForeignFile.open(path)
        return try lock(descriptor.raw, path, timeout) ? consume descriptor : nil
    }

    /// The same for a directory.
    package static func takeDirectory(_ path: String, waiting timeout: Int64) throws(FileError) -> Descriptor? {
        let raw = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw FileError(of: Errno(rawValue: errno), at: path) }
        let descriptor = Descriptor(adopting: raw)
        return try lock(descriptor.raw, path, timeout) ? consume descriptor : nil
    }

    /// Whether it is a process of this user or of root that holds the lock of `path`. If the kernel does not show that, as in
    /// some containers: whether only these could.
    package static func isHeld(_ path: String, by identity: Identity) -> Bool {
        guard let status = holder(of: path).flatMap({ ProcessStatus(ofProcess: $0) }) else {
            let found = FileStatus.following(path)
            return found.map { identity.trusts($0.owner) && $0.mode & 0o077 == 0 } == true
        }
        return status.user.map(identity.trusts) == true
    }

    /// Waits for the lock for so many milliseconds at most; whether it was got.
    private static func lock(_ descriptor: Int32, _ path: String, _ timeout: Int64) throws(FileError) -> Bool {
        // By the clock, not by the number of pauses. On a busy machine each lasts longer, and a start waits for the state
        // directory for only five seconds.
        let deadline = Deadline(in: timeout)
        while true {
            guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
            guard errno == EWOULDBLOCK else { throw FileError(of: Errno(rawValue: errno), at: path) }
            guard !deadline.hasPassed else { return false }
            usleep(interval)
        }
    }
}
