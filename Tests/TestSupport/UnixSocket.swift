import Foundation

/// A Unix socket of a test's own, closed when the value goes. None of the project's code makes it: what is tested with it
/// may be that code.
package final class UnixSocket: Sendable {
    package let descriptor: Int32

    /// A datagram socket that receives what is sent to `path`.
    package static func receiving(at path: String) throws -> UnixSocket {
        try unsafe UnixSocket(SOCK_DGRAM, path, bind)
    }

    /// A connection to whoever listens at `path`.
    package static func connected(to path: String) throws -> UnixSocket {
        try unsafe UnixSocket(SOCK_STREAM, path, connect)
    }

    private init(
        _ type: __socket_type, _ path: String, _ attach: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < 108 else { throw POSIXError(.ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe attach(descriptor, $0, length) }
        }
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }
}
