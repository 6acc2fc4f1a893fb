import CLinux
import Glibc
import SystemPackage

/// A connection over a Unix socket. All waits for its other side end at a deadline, even if that side is active. A peer that
/// sends a byte a second cannot extend it.
///
/// It is read either as bytes or, throughout, as lines.
package struct UnixStream: ~Copyable, Sendable {
    private let descriptor: Descriptor
    /// When waiting ends.
    package var deadline: Deadline
    private let cancel: EventCounter?
    private var lines = LineBuffer()
    /// Whether the peer has closed its end, as far as lines were read.
    package private(set) var isClosed = false

    /// Bytes read at one time, at most.
    private static let portion = 65_536

    package var raw: Int32 { descriptor.raw }

    /// - Parameters:
    ///   - milliseconds: from now until the deadline.
    ///   - cancel: ends every wait earlier when raised.
    package init(adopting descriptor: consuming Descriptor, milliseconds: Int64, cancel: EventCounter? = nil) {
        self.descriptor = descriptor
        self.cancel = cancel
        deadline = Deadline(in: milliseconds)
    }

    /// Connects to the Unix socket at this path; the deadline counts from then on. Throws `.noSuchFileOrDirectory` or
    /// `.connectionRefused` if nothing listens, and `.wouldBlock` after the timeout.
    package init(
        connectingTo path: String, timeoutSeconds: Int64, milliseconds: Int64, cancel: EventCounter? = nil
    ) throws(SystemError) {
        let raw = unsafe clinux_unix_connect(path, max(timeoutSeconds, 1))
        self.init(
            adopting: Descriptor(adopting: try SystemError.check(raw, "connect to \(path)")),
            milliseconds: milliseconds, cancel: cancel)
    }

    /// The peer's credentials.
    package func peer() throws(SystemError) -> Peer {
        try Peer(of: raw)
    }

    /// Whether the peer has closed, or has sent more than it was to send.
    package var isAbandoned: Bool { Descriptor.ready([raw], atMost: 0) == [true] }

    /// Waits until the socket can be read, or written to. Throws `.timedOut` and `.canceled`.
    private func wait(_ operation: String, writing: Bool = false) throws(SystemError) {
        let ready = Descriptor.ready([raw, cancel?.raw ?? -1], writing: writing, atMost: deadline.rest)
        if ready[1] { throw SystemError(operation, errno: .canceled) }
        if !ready[0] { throw SystemError(operation, errno: .timedOut) }
    }

    // MARK: Writing

    /// Writes all bytes. Throws `.timedOut`, `.canceled`, and `.brokenPipe` when nothing reads.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var unsent = bytes[...]
        while !unsent.isEmpty {
            let count = try descriptor.sendNow(unsent)
            unsent = unsent.dropFirst(count)
            if count == 0 { try wait("write to a socket", writing: true) }
        }
    }

    /// Writes a line and its end, as ``write(_:)`` does.
    package func write(line: [UInt8]) throws(SystemError) {
        try write(line + [UInt8(ascii: "\n")])
    }

    // MARK: Bytes

    /// The next `count` bytes; fewer when the peer closes first. Memory grows with the arriving bytes, not with `count`.
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
            if let taken = try arrived(upTo: count) { return taken }
            try wait("read from a socket")
        }
    }

    /// Waits until the peer sends something, and discards the bytes that have arrived by then.
    package func discardInput() {
        guard Descriptor.ready([raw], atMost: deadline.rest) == [true] else { return }
        while let taken = try? arrived(upTo: Self.portion), taken.count == Self.portion {}
    }

    /// The bytes that have arrived, at most `count`; empty once the peer has closed its end, nil if nothing has arrived.
    private func arrived(upTo count: Int) throws(SystemError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let taken = unsafe recv(raw, &buffer, count, Int32(MSG_DONTWAIT))
        if taken >= 0 { return Array(buffer[..<taken]) }
        guard errno == EAGAIN || errno == EINTR else {
            throw SystemError("read from a socket", errno: Errno(rawValue: errno))
        }
        return nil
    }

    // MARK: Lines

    /// The next line without its end; nil once the peer has closed its end.
    ///
    /// Throws `.timedOut`, also if lines come without end, `.canceled`, and `.messageTooLong` for one of more than `limit` bytes.
    package mutating func line(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        let operation = "read a line from a socket"
        while true {
            guard !deadline.hasPassed else { throw SystemError(operation, errno: .timedOut) }
            let line = lines.next()
            // For a line without its end, the bytes so far.
            guard line?.count ?? lines.count <= limit else {
                throw SystemError(operation, errno: .messageTooLong)
            }
            if line != nil || isClosed { return line }
            if try !receive() { try wait(operation) }
        }
    }

    /// Whether the peer has sent a part of a line without its end.
    package var isInLine: Bool { lines.count > 0 }

    /// The lines that have arrived by now; does not wait.
    ///
    /// - Parameter limit: in bytes, of all of them; more is an error, `.messageTooLong`.
    package mutating func arrivedLines(atMost limit: Int) throws(SystemError) -> [[UInt8]] {
        while !isClosed, try receive() {
            guard lines.count <= limit else {
                throw SystemError("read lines from a socket", errno: .messageTooLong)
            }
        }
        return takenLines()
    }

    /// The lines that came together with the last one that was taken.
    package mutating func takenLines() -> [[UInt8]] {
        var taken: [[UInt8]] = []
        while let line = lines.next() { taken.append(line) }
        return taken
    }

    /// Reads the bytes that have arrived; returns whether there were any, the end included.
    private mutating func receive() throws(SystemError) -> Bool {
        do throws(SystemError) {
            guard let taken = try arrived(upTo: Self.portion) else { return false }
            if taken.isEmpty { isClosed = true } else { lines.append(taken) }
        } catch {
            guard error.errno == .connectionReset else { throw error }
            isClosed = true
        }
        return true
    }
}
