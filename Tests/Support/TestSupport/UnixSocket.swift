import Foundation

/// A Unix socket of a test's own, closed when the value is released. It uses none of the project's code, which may be
/// what is tested with it.
package final class UnixSocket: Sendable {
    package let descriptor: Int32

    /// A datagram socket that receives what is sent to `path`.
    package static func receiving(at path: String) throws -> UnixSocket {
        try unsafe UnixSocket(SOCK_DGRAM, path, bind)
    }

    /// A connection to the listener at `path`.
    package static func connected(to path: String) throws -> UnixSocket {
        try unsafe UnixSocket(SOCK_STREAM, path, connect)
    }

    /// What ``fill(_:)`` sends.
    package static let filler = "FILLER=1"

    /// Sends datagrams to `path`, which nobody reads, until there is no room for more.
    package static func fill(_ path: String) throws {
        // A sender's own buffer may be full first; then another one goes on.
        var isFull = false
        while !isFull {
            isFull = true
            let sender = try unsafe UnixSocket(SOCK_DGRAM, path, connect)
            while unsafe send(sender.descriptor, filler, filler.utf8.count, Int32(MSG_DONTWAIT)) > 0 { isFull = false }
        }
    }

    /// A socket that is attached to `path` by `attach`: see ``attach(_:_:)``.
    init(
        _ type: __socket_type, _ path: String, _ attach: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        try unsafe self.attach(path, attach)
    }

    /// Binds or connects the socket.
    ///
    /// - Parameters:
    ///   - path: an abstract address if it begins with `@`.
    ///   - attach: `bind` or `connect`.
    func attach(
        _ path: String, _ attach: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        let isAbstract = path.hasPrefix("@")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A name in the file system has a NUL behind it.
        guard path.utf8.count < (isAbstract ? 109 : 108) else { throw POSIXError(.ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        if isAbstract {
            address.sun_path.0 = 0
            length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        }
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe attach(descriptor, $0, length) }
        }
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }
}
