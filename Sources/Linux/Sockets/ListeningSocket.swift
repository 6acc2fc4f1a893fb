import CLinux
import Glibc
import SystemPackage

/// A socket that listens for connections: one that this process created at a path, or one that was passed to it.
package final class ListeningSocket: Sendable {
    /// Non-blocking; accepted connections block.
    package let descriptor: Descriptor
    package let kind: SocketKind
    /// The path of a socket that was created here, and the file that it named then. Nil for one that was passed, whose name
    /// outlives this process.
    private let name: (path: String, file: FileStatus)?

    /// Connections that may wait to be accepted; more than our clients open at one time.
    private static let backlog: Int32 = 128

    /// Makes a Unix socket. The name appears with its mode set.
    ///
    /// Replaces a socket on which no program listens. Throws `.addressInUse` when one does, `.notSocket` for
    /// another kind of file, `.fileNameTooLong` above 107 bytes. If two processes replace it at once, one may lose its
    /// name: a caller that must be the only one takes a lock first.
    package init(path: String, mode: UInt32) throws(SystemError) {
        try Self.removeStale(path)
        let listening = Descriptor(
            adopting: try SystemError.check(
                unsafe clinux_unix_listen(path, mode, Self.backlog), "listen on \(path)"))
        kind = try SocketKind(listening.raw)
        name = (path, try Self.look(at: path))
        descriptor = listening
    }

    /// Takes over a socket that was passed to this process, as by systemd. Throws `.invalidArgument`, and closes it, unless it
    /// listens for streams.
    ///
    /// - Parameter name: the name that the sender uses for it, shown in the error.
    package init(adopting descriptor: consuming Descriptor, named name: String) throws(SystemError) {
        guard let kind = try? SocketKind(descriptor.raw), kind.isListening, kind.family != .other else {
            throw SystemError("listen on the socket \(name) from systemd", errno: .invalidArgument)
        }
        // It blocks unless the service sets NonBlocking=.
        try descriptor.setNonBlocking()
        self.descriptor = descriptor
        self.kind = kind
        self.name = nil
    }

    package var raw: Int32 { descriptor.raw }

    /// The path to which it was bound, also one that was passed; nil for a socket that has none.
    package var path: String? {
        // sockaddr_un has 108 bytes for it.
        var buffer = [CChar](repeating: 0, count: 128)
        return unsafe clinux_socket_path(raw, &buffer, 128) > 0 ? String(zeroTerminated: buffer) : nil
    }

    /// Accepts the next connection; `nil` when none waits.
    package func accept() throws(SystemError) -> Descriptor? {
        let accepted = clinux_unix_accept(raw)
        if accepted == -EAGAIN { return nil }
        return Descriptor(adopting: try SystemError.check(accepted, "accept a connection"))
    }

    /// Lets root, the owner and, if a group is given, its members connect from now on. Throws `.notPermitted` when the owner is
    /// not a member, and then only root and the owner may; `.staleNFSFileHandle` when the path now names another file. The
    /// creator of a passed socket decides which users may connect.
    package func permit(group: UInt32?) throws(SystemError) {
        guard let name else { return }
        try SystemError.check(
            unsafe clinux_socket_permit(
                name.path, name.file.identity.device, name.file.identity.inode, group == nil ? 0o600 : 0o660,
                group.map(Int64.init) ?? -1),
            "let a group connect to \(name.path)")
    }

    /// Removes the socket that was created here, unless its path now names another file.
    package func removeName() {
        guard let name, let now = try? Self.look(at: name.path), now.isSameFile(as: name.file) else { return }
        _ = unsafe unlink(name.path)
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

    /// The status of the path's file now, links not followed.
    private static func look(at path: String) throws(SystemError) -> FileStatus {
        var found = clinux_status()
        try SystemError.check(unsafe clinux_path_look_at(AT_FDCWD, path, 0, &found), "look at \(path)")
        return FileStatus(found)
    }
}
