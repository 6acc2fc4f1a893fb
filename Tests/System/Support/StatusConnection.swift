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
}
