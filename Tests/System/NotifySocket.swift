import Foundation
import Testing

/// A datagram socket such as systemd gives a service in `NOTIFY_SOCKET`.
final class NotifySocket {
    let path: String
    private let descriptor: Int32

    init(at path: String) throws {
        self.path = path
        try? FileManager.default.removeItem(atPath: path)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
                == 0
        }
        try #require(isBound)
        var patience = timeval(tv_sec: 0, tv_usec: 200_000)
        let isPatient =
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            == 0
        try #require(isPatient)
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Waits for a line, up to a minute, or until nobody is left to send it.
    func wait(for line: String, while isAlive: () -> Bool) throws {
        for _ in 0..<300 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count > 0,
                String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n").contains(Substring(line))
            {
                return
            }
            if count <= 0, !isAlive() { break }
        }
        throw NotSaid(line: line)
    }

    struct NotSaid: Error {
        let line: String
    }
}
