import Foundation
import Linux

/// A client that sends bytes as they stand and shows what comes back.
final class Connection {
    private let stream: UnixStream

    init(to socket: String) throws {
        // Longer than any deadline in these tests, and an end to a server that hangs.
        stream = try UnixStream(connectingTo: socket, timeoutSeconds: 30, milliseconds: 60_000)
    }

    func send(_ text: String) throws {
        try stream.write(Array(text.utf8))
    }

    /// The beginning of what there is to read.
    func readSome() throws -> String {
        String(decoding: try stream.read(upTo: 64), as: UTF8.self)
    }

    /// What has arrived by now.
    func arrived() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(stream.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    /// Everything until the server hangs up.
    func readToEnd(withDate: Bool = false) throws -> String {
        var bytes: [UInt8] = []
        // One that hangs up on bytes that it did not want to read resets the connection.
        while let more = try? stream.read(upTo: 65_536), !more.isEmpty { bytes += more }
        let text = String(decoding: bytes, as: UTF8.self)
        return withDate ? text : text.undated
    }

    /// Answers until `body` is the last of them, with the connection left open.
    func read(upTo end: String) throws -> String {
        var text = ""
        while !text.hasSuffix(end) {
            let more = try stream.read(upTo: 65_536)
            if more.isEmpty { return text.undated + "<end>" }
            text += String(decoding: more, as: UTF8.self)
        }
        return text.undated
    }

    /// Sends `text` over and over until the server has taken nothing for a while; returns how many bytes went, `limit`
    /// at most.
    func push(_ text: String, limit: Int) -> Int {
        let bytes = Array(String(repeating: text, count: 65_536 / text.utf8.count).utf8)
        var sent = 0
        var refusals = 0
        while sent < limit, refusals < 30 {
            let count = unsafe Glibc.send(stream.raw, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count > 0 {
                sent += count
                refusals = 0
            } else {
                refusals += 1
                usleep(10_000)
            }
        }
        return sent
    }

    /// Tells the server that nothing more is sent.
    func endSending() {
        shutdown(stream.raw, Int32(SHUT_WR))
    }

    /// Sends `text` and then one byte after the other until the server has had enough; returns what it said.
    func drip(_ text: String) throws -> String {
        try send(text)
        for _ in 0..<3000 {
            do { try send("a") } catch { return try readToEnd() }
            usleep(10_000)
        }
        return "it never had enough"
    }
}
