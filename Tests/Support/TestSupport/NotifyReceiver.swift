import Foundation

/// The socket that a service notifies. Sets `NOTIFY_SOCKET` in this process's environment: for tests that run in a
/// process of their own.
package struct NotifyReceiver {
    private let socket: UnixSocket
    private let directory: TemporaryDirectory

    package init() throws {
        directory = try TemporaryDirectory()
        let path = directory("notify")
        socket = try UnixSocket.receiving(at: path)
        unsafe setenv("NOTIFY_SOCKET", path, 1)
    }

    /// Fills the socket: nothing fits into it until the next call of ``received()``.
    package func fill() throws {
        try UnixSocket.fill(directory("notify"))
    }

    /// The messages received since the last call, each as it was sent.
    package func received() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return messages }
            let message = String(decoding: buffer.prefix(count), as: UTF8.self)
            if message != UnixSocket.filler { messages.append(message) }
        }
    }
}
