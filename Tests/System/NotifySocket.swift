import Foundation
import TestSupport
import Testing

/// A datagram socket such as systemd gives a service in `NOTIFY_SOCKET`.
final class NotifySocket {
    let path: String
    private let socket: UnixSocket

    init(at path: String) throws {
        self.path = path
        try? FileManager.default.removeItem(atPath: path)
        socket = try UnixSocket.receiving(at: path)
        var patience = timeval(tv_sec: 0, tv_usec: 200_000)
        let isPatient =
            unsafe setsockopt(
                socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            == 0
        try #require(isPatient)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Waits for a line, up to a minute, or until nobody is left to send it.
    func wait(for line: String, while isAlive: () -> Bool) throws {
        for _ in 0..<300 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
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
