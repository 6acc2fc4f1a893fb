import CLinux
import Glibc
import SystemPackage

/// A connection over a Unix socket with one deadline, whatever the other side does: a peer that sends a byte a second cannot
/// extend it.
package struct UnixStream: ~Copyable {
    private let descriptor: Descriptor
    private let deadline: Int64
    private let cancel: EventCounter?

    /// Bytes read at one time, at most.
    private static let portion = 65_536

    package var raw: Int32 { descriptor.raw }

    /// - Parameters:
    ///   - milliseconds: from now until the deadline; a suspend does not count.
    ///   - cancel: ends it earlier when raised.
    package init(adopting descriptor: consuming Descriptor, milliseconds: Int64, cancel: EventCounter? = nil) {
        self.descriptor = descriptor
        self.cancel = cancel
        deadline = Self.now() + milliseconds
    }

    /// Connects as ``Descriptor/connect(to:timeoutSeconds:)`` does; the deadline counts from then on.
    package init(
        connectingTo path: String, timeoutSeconds: Int64, milliseconds: Int64, cancel: EventCounter? = nil
    ) throws(SystemError) {
        self.init(
            adopting: try Descriptor.connect(to: path, timeoutSeconds: timeoutSeconds), milliseconds: milliseconds,
            cancel: cancel)
    }

    /// The peer's credentials.
    package func peer() throws(SystemError) -> Peer {
        try Peer(of: raw)
    }

    /// The next `count` bytes; fewer when the peer closes first. Memory grows with what arrives, not with `count`.
    ///
    /// Throws `.timedOut` and `.canceled`.
    package func read(exactly count: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let taken = try read(upTo: min(Self.portion, count - bytes.count))
            if taken.isEmpty { break }
            bytes += taken
        }
        return bytes
    }

    /// The only line that is to come, without its end; what has come of it when the peer closes first.
    ///
    /// Throws `.timedOut`, `.canceled`, and `.messageTooLong` for more than `limit` bytes.
    package func line(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let taken = try read(upTo: Self.portion)
            let end = taken.firstIndex(of: UInt8(ascii: "\n"))
            bytes += taken[..<(end ?? taken.endIndex)]
            if end != nil || taken.isEmpty, bytes.count <= limit { return bytes }
        }
        throw SystemError("read a line from a socket", errno: .messageTooLong)
    }

    /// Waits for some bytes, at most `count`; empty once the peer closed its end.
    ///
    /// Throws `.timedOut` and `.canceled`.
    package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        while true {
            if let taken = try descriptor.received(upTo: count) { return taken }
            try descriptor.wait("read from a socket", writing: false, atMost: rest, cancel: cancel)
        }
    }

    /// Whether the peer sends something, or closes, within this time (milliseconds) or before the deadline.
    package func awaitsInput(within timeout: Int64) -> Bool {
        Descriptor.ready([raw], atMost: min(timeout, rest)) != [false]
    }

    /// Whether the deadline has passed.
    package var isOverdue: Bool { rest == 0 }

    /// Writes all bytes. Throws `.timedOut`, `.canceled`, and `.brokenPipe` when nothing reads.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try descriptor.send(bytes, waiting: { rest }, cancel: cancel)
    }

    /// Waits until the peer sends something, and discards what has arrived by then.
    package func discardInput() {
        guard Descriptor.ready([raw], atMost: rest) == [true] else { return }
        var buffer = [UInt8](repeating: 0, count: Self.portion)
        while unsafe recv(raw, &buffer, buffer.count, Int32(MSG_DONTWAIT)) == buffer.count {}
    }

    /// Whether the peer has closed, or has sent more than it was to send.
    package var isAbandoned: Bool { Descriptor.ready([raw], atMost: 0) == [true] }

    /// In milliseconds, until the deadline.
    private var rest: Int64 { max(deadline - Self.now(), 0) }

    private static func now() -> Int64 { Clocks.monotonicMicroseconds() / 1_000 }
}
