import CLinux
import Glibc
import SystemPackage

/// A connection over a Unix socket; ``TimedStream`` reads and writes.
package struct UnixStream: ~Copyable {
    fileprivate let descriptor: Descriptor

    package var raw: Int32 { descriptor.raw }

    package init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects. Throws `.noSuchFileOrDirectory` or `.connectionRefused` where nothing listens, and `.wouldBlock` after
    /// the timeout.
    package static func connect(to path: String, timeoutSeconds: Int64) throws(SystemError) -> UnixStream {
        UnixStream(
            adopting: Descriptor(
                adopting: try SystemError.check(
                    unsafe clinux_unix_connect(path, max(timeoutSeconds, 1)), "connect to \(path)")))
    }
}

/// A Unix stream connection with one deadline, whatever the other side does: a peer that sends a byte a second cannot
/// extend it.
package struct TimedStream: ~Copyable {
    private let stream: UnixStream
    private let deadline: Int64
    private let cancel: EventCounter?

    /// Bytes read at one time, at most.
    private static let portion = 65_536

    /// - Parameters:
    ///   - milliseconds: from now until the deadline; a suspend does not count.
    ///   - cancel: ends it earlier when raised.
    package init(_ stream: consuming UnixStream, milliseconds: Int64, cancel: EventCounter? = nil) {
        self.stream = stream
        self.cancel = cancel
        deadline = Self.now() + milliseconds
    }

    /// The peer's credentials.
    package func peer() throws(SystemError) -> Peer {
        try Peer(of: stream.raw)
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

    /// Waits for some bytes, at most `count`; empty once the peer closed its end.
    ///
    /// Throws `.timedOut` and `.canceled`.
    package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        while true {
            if let taken = try stream.descriptor.received(upTo: count) { return taken }
            try stream.descriptor.wait("read from a socket", writing: false, atMost: rest, cancel: cancel)
        }
    }

    /// Writes all bytes. Throws `.timedOut`, `.canceled`, and `.brokenPipe` when nothing reads.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try stream.descriptor.send(bytes, waiting: { rest }, cancel: cancel)
    }

    /// Waits until the peer sends something, and discards what has arrived by then.
    package func discardInput() {
        guard clinux_stream_wait(stream.raw, 0, -1, rest) != 0 else { return }
        var buffer = [UInt8](repeating: 0, count: Self.portion)
        while unsafe recv(stream.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT)) == buffer.count {}
    }

    /// Whether the peer has closed, or has sent more than it was to send.
    package var isAbandoned: Bool {
        clinux_stream_wait(stream.raw, 0, -1, 0) != 0
    }

    /// In milliseconds, until the deadline.
    private var rest: Int64 { max(deadline - Self.now(), 0) }

    private static func now() -> Int64 {
        Clocks.monotonicMicroseconds() / 1_000
    }
}
