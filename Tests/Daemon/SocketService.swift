import Foundation
import Linux
import Synchronization
import TestSupport

/// A service beside the daemon, for one connection.
final class SocketService: Sendable {
    enum Reply: Sendable {
        case answer(String)
        /// Answers each request that comes, by the number of those before it, until the other side closes.
        case each(@Sendable (Int) -> String)
        /// Reads, and says nothing until the other side closes; to one that waits for 20 s it says that Apple accepts.
        case hang
        /// Closes without reading.
        case hangUp
    }

    /// Nil once the connection has come.
    private let listening: Mutex<ListeningSocket?>
    private let ended = DispatchSemaphore(value: 0)
    private let asked = Mutex("")

    /// - Parameters:
    ///   - user: who begins to listen, for whom the kernel takes the service.
    ///   - dropped: how many connections are closed before, as by systemd when another process has ended.
    init(at path: String, _ reply: Reply, as user: UInt32? = nil, dropping dropped: Int = 0) throws {
        let socket =
            try user.map { user in
                try ThreadUser.perform(as: user, otherwise: { $0 }) { () throws(SystemError) in
                    try ListeningSocket(path: path, mode: 0o600)
                }
            } ?? ListeningSocket(path: path, mode: 0o600)
        listening = Mutex(socket)
        // What accepts connections waits for them.
        _ = fcntl(socket.raw, F_SETFL, 0)
        Thread.detachNewThread { [self] in
            for _ in 0..<dropped { _ = try? socket.accept() }
            serve(reply)
            ended.signal()
        }
    }

    /// What was asked, once the connection has ended.
    var request: String {
        ended.wait()
        defer { ended.signal() }
        return asked.withLock { $0 }
    }

    /// The only one that comes. No program that another test starts meanwhile may inherit it: its end would not be seen.
    private func connection() -> UnixStream? {
        guard let socket = listening.withLock({ $0.take() }), let accepted = try? socket.accept() else { return nil }
        return UnixStream(adopting: accepted, milliseconds: 60_000)
    }

    private func serve(_ reply: Reply) {
        guard let connection = connection() else { return }
        if case .hangUp = reply { return }
        var request: [UInt8] = []
        while !request.contains(UInt8(ascii: "\n")), let more = try? connection.read(upTo: 65_536), !more.isEmpty {
            request += more
        }
        asked.withLock { $0 = String(decoding: request, as: UTF8.self) }
        switch reply {
        case .answer(let text): try? connection.write(Array(text.utf8))
        case .each(let answer):
            var number = 0
            repeat {
                guard (try? connection.write(Array(answer(number).utf8))) != nil else { return }
                number += 1
            } while (try? connection.read(upTo: 65_536)).map { !$0.isEmpty } ?? false
        case .hang:
            var events = pollfd(fd: connection.raw, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&events, 1, 20_000) == 0 { try? connection.write(Array(#"{"verdict":"accepted"}"#.utf8)) }
        case .hangUp: break
        }
    }
}
