import Foundation
import Synchronization
import TestSupport
import Testing

/// A datagram socket such as systemd gives a service in `NOTIFY_SOCKET`.
final class NotifySocket: Sendable {
    let path: String
    private let socket: UnixSocket
    /// What was said last under each name.
    private let said = Mutex<[Substring: Substring]>([:])
    private let all = Mutex("")
    private let isOver = Mutex(false)

    init(at path: String) throws {
        self.path = path
        try? FileManager.default.removeItem(atPath: path)
        socket = try UnixSocket.receiving(at: path)
        var timeout = timeval(tv_sec: 0, tv_usec: 200_000)
        let isPatient =
            unsafe setsockopt(
                socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            == 0
        try #require(isPatient)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Waits for a line, up to two minutes, or until nobody is left to send it.
    func wait(for line: String, while isAlive: () -> Bool) throws {
        for _ in 0..<600 {
            let lines = hear()
            if lines.contains(Substring(line)) { return }
            if lines.isEmpty, !isAlive() { break }
        }
        throw NotSaid(line: line)
    }

    /// Takes in what is said from now on until ``end()``: who says it must not be kept waiting by a queue that is full.
    func follow() {
        Thread { [self] in
            while !isOver.withLock({ $0 }) { _ = hear() }
        }.start()
    }

    func end() {
        isOver.withLock { $0 = true }
    }

    /// Everything that was said.
    var text: String { all.withLock { $0 } }

    /// What was said last under this name.
    func last(_ name: String) -> String? {
        said.withLock { $0[Substring(name)].map(String.init) }
    }

    /// The lines of the next message; none when nothing was said for a while.
    private func hear() -> [Substring] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return [] }
        let message = String(decoding: buffer.prefix(count), as: UTF8.self)
        all.withLock { $0 += message + "\n" }
        let lines = message.split(separator: "\n")
        said.withLock { said in
            for line in lines {
                let parts = line.split(separator: "=", maxSplits: 1)
                said[parts[0]] = parts.last
            }
        }
        return lines
    }

    struct NotSaid: Error {
        let line: String
    }
}
