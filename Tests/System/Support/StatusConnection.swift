import Foundation
import TestSupport
import Testing

/// A connection to the status socket, to say on it whatever a test likes.
final class StatusConnection {
    private let socket: UnixSocket

    init(_ path: String) throws {
        socket = try UnixSocket.connected(to: path)
    }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        // Who is turned away before it has said anything gets EPIPE, not a signal.
        let count = unsafe Glibc.send(socket.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        try #require(count == bytes.count)
    }

    /// All that comes until the daemon closes it; within five minutes, so that one that hangs fails its test and not the whole
    /// run.
    func everything() throws -> String {
        var timeout = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(socket.descriptor, &part, part.count, 0)
            try #require(count >= 0, "the daemon does not answer: errno \(errno)")
            if count == 0 { return String(decoding: all, as: UTF8.self) }
            all += part.prefix(count)
        }
    }
}
