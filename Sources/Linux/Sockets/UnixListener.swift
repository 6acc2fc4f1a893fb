import CLinux
import Glibc
import SystemPackage

/// A listening Unix socket at a path of the file system.
package struct UnixListener: ~Copyable, Sendable {
    /// Does not block; what it accepts does.
    package let descriptor: Descriptor
    private let path: String
    private let identity: NameIdentity

    /// Connections that may wait to be accepted; more than any user of ours has at one time.
    private static let backlog: Int32 = 128

    /// Binds and listens. The name appears with its mode.
    ///
    /// A socket that nobody listens on any more is taken over. Throws `.addressInUse` when somebody does, `.notSocket`
    /// when something else is there, `.fileNameTooLong` above 107 bytes. Of two that take one over at the same moment
    /// one may lose its name: who must be alone holds a lock before.
    package init(path: String, mode: UInt32) throws(SystemError) {
        try UnixListener.removeStale(path)
        let listening = Descriptor(
            adopting: try SystemError.check(
                unsafe clinux_unix_listen(path, mode, UnixListener.backlog), "listen on \(path)"))
        identity = try NameIdentity(of: path)
        descriptor = listening
        self.path = path
    }

    /// The next who has connected, `nil` when nobody waits.
    package func accept() throws(SystemError) -> Descriptor? {
        try UnixListener.accept(on: descriptor.raw)
    }

    /// The next who has connected to a listening socket that does not block, `nil` when nobody waits.
    package static func accept(on listener: Int32) throws(SystemError) -> Descriptor? {
        let accepted = clinux_unix_accept(listener)
        if accepted == -EAGAIN { return nil }
        return Descriptor(adopting: try SystemError.check(accepted, "accept a connection"))
    }

    /// Lets root and the owner connect from now on and, where a group is given, its members. Throws `.notPermitted` when the
    /// owner is not one of them, and then only root and the owner may; `.staleNFSFileHandle` when another has taken the
    /// place meanwhile.
    package func permit(group: UInt32?) throws(SystemError) {
        try SystemError.check(
            unsafe clinux_socket_permit(
                path, identity.device, identity.inode, group == nil ? 0o600 : 0o660, group.map(Int64.init) ?? -1),
            "let a group connect to \(path)")
    }

    /// Takes the name away, unless another has taken the place meanwhile.
    package func removeName() {
        guard let now = try? NameIdentity(of: path), now == identity else { return }
        _ = unsafe unlink(path)
    }

    /// Gives the listening descriptor to somebody who closes it; the name stays.
    package consuming func release() -> Int32 {
        descriptor.release()
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        let found: NameIdentity
        do throws(SystemError) {
            found = try NameIdentity(of: path)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return }
            throw error
        }
        let operation = "listen on \(path)"
        guard found.isSocket else { throw SystemError(operation, errno: .notSocket) }
        // A second is plenty: connecting to a local socket waits only where its queue is full, and then it is alive.
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
}

/// What a path names now, links not followed.
private struct NameIdentity: Equatable {
    let device: UInt64
    let inode: UInt64
    let isSocket: Bool

    init(of path: String) throws(SystemError) {
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var isSocket: Int32 = 0
        try SystemError.check(
            unsafe clinux_name_identity(path, &device, &inode, &isSocket), "look at \(path)")
        self.device = device
        self.inode = inode
        self.isSocket = isSocket != 0
    }
}
