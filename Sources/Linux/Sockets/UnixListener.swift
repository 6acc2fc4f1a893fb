import CLinux
import Glibc
import SystemPackage

/// A listening Unix socket at a path of the file system.
package struct UnixListener: ~Copyable, Sendable {
    /// Non-blocking; what it accepts blocks.
    package let descriptor: Descriptor
    private let path: String
    /// The file that the path named when this listened.
    private let file: FileStatus

    /// Connections that may wait to be accepted; more than our clients open at one time.
    private static let backlog: Int32 = 128

    /// Binds and listens. The name appears with its mode set.
    ///
    /// Replaces a socket on which no program listens. Throws `.addressInUse` when one does, `.notSocket` for
    /// another kind of file, `.fileNameTooLong` above 107 bytes. If two processes replace it at once, one may lose its
    /// name: a caller that must be the only one takes a lock first.
    package init(path: String, mode: UInt32) throws(SystemError) {
        try UnixListener.removeStale(path)
        let listening = Descriptor(
            adopting: try SystemError.check(
                unsafe clinux_unix_listen(path, mode, UnixListener.backlog), "listen on \(path)"))
        file = try UnixListener.look(at: path)
        descriptor = listening
        self.path = path
    }

    /// Accepts the next connection; `nil` when none waits.
    package func accept() throws(SystemError) -> Descriptor? {
        try UnixListener.accept(on: descriptor.raw)
    }

    /// Accepts the next connection on a non-blocking listening socket; `nil` when none waits.
    package static func accept(on listener: Int32) throws(SystemError) -> Descriptor? {
        let accepted = clinux_unix_accept(listener)
        if accepted == -EAGAIN { return nil }
        return Descriptor(adopting: try SystemError.check(accepted, "accept a connection"))
    }

    /// Lets root, the owner and, where a group is given, its members connect from now on. Throws `.notPermitted` when
    /// the owner is not a member, and then only root and the owner may; `.staleNFSFileHandle` when the path now names
    /// another file.
    package func permit(group: UInt32?) throws(SystemError) {
        try SystemError.check(
            unsafe clinux_socket_permit(
                path, file.identity.device, file.identity.inode, group == nil ? 0o600 : 0o660,
                group.map(Int64.init) ?? -1),
            "let a group connect to \(path)")
    }

    /// Removes the socket, unless the path now names another file.
    package func removeName() {
        if let now = try? UnixListener.look(at: path), now.isSameFile(as: file) { _ = unsafe unlink(path) }
    }

    /// The listening descriptor, which the caller closes; the file stays.
    package consuming func release() -> Int32 {
        descriptor.release()
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        let found: FileStatus
        do throws(SystemError) {
            found = try look(at: path)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return }
            throw error
        }
        let operation = "listen on \(path)"
        guard found.kind == .socket else { throw SystemError(operation, errno: .notSocket) }
        // A second is plenty: connecting to a local socket waits only if its queue is full; then a program listens.
        let answer = unsafe clinux_unix_connect(path, 1)
        if answer >= 0 { _ = close(answer) }
        switch answer {
        case -ECONNREFUSED: break
        case -ENOENT: return
        case -EACCES: throw SystemError(operation, errno: .permissionDenied)
        default: throw SystemError(operation, errno: .addressInUse)
        }
        if unsafe unlink(path) < 0 && errno != ENOENT { throw SystemError(operation, errno: Errno(rawValue: errno)) }
    }

    /// What the path names now, links not followed.
    private static func look(at path: String) throws(SystemError) -> FileStatus {
        var found = clinux_status()
        try SystemError.check(unsafe clinux_path_look_at(AT_FDCWD, path, 0, &found), "look at \(path)")
        return FileStatus(found)
    }
}
