import SystemPackage

/// A connection over a Unix socket on which lines go both ways for as long as both sides like.
package struct LineStream: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private var rest = LineBuffer()
    /// Whether the peer has closed its end.
    package private(set) var isClosed = false
    /// In bytes; a longer line is an error.
    package var longest: Int

    private static let portion = 65_536

    package var raw: Int32 { descriptor.raw }

    /// Connects as ``Descriptor/connect(to:timeoutSeconds:)`` does.
    package init(connectingTo path: String, timeoutSeconds: Int64, longestLine: Int) throws(SystemError) {
        descriptor = try Descriptor.connect(to: path, timeoutSeconds: timeoutSeconds)
        longest = longestLine
    }

    /// The peer's credentials.
    package func peer() throws(SystemError) -> Peer { try Peer(of: raw) }

    /// Writes a line and its end.
    ///
    /// Throws `.timedOut`, `.canceled`, and `.brokenPipe` when nothing reads.
    ///
    /// - Parameters:
    ///   - deadline: on the clock of ``Clocks/bootMilliseconds()``.
    ///   - cancel: ends it earlier when raised.
    package func write(_ line: [UInt8], until deadline: Int64, cancel: EventCounter?) throws(SystemError) {
        try descriptor.send(
            line + [UInt8(ascii: "\n")], waiting: { deadline - Clocks.bootMilliseconds() }, cancel: cancel)
    }

    /// The next line without its end; nil once the peer has closed.
    ///
    /// Throws `.timedOut`, also where lines come without end, `.canceled`, and `.messageTooLong`.
    package mutating func next(until deadline: Int64, cancel: EventCounter?) throws(SystemError) -> [UInt8]? {
        while true {
            guard Clocks.bootMilliseconds() < deadline else {
                throw SystemError("read from a socket", errno: .timedOut)
            }
            if let line = rest.next() { return line }
            if isClosed { return nil }
            if try !receive() {
                try descriptor.wait(
                    "read from a socket", writing: false, atMost: deadline - Clocks.bootMilliseconds(), cancel: cancel)
            }
        }
    }

    /// The lines that have arrived by now; does not wait.
    ///
    /// - Parameter limit: in bytes; more is an error, `.messageTooLong`.
    package mutating func arrived(atMost limit: Int) throws(SystemError) -> [[UInt8]] {
        while !isClosed, try receive() {
            guard rest.count <= limit else {
                throw SystemError("read lines from a socket", errno: .messageTooLong)
            }
        }
        return received()
    }

    /// The lines that came together with the last one that was taken.
    package mutating func received() -> [[UInt8]] {
        var lines: [[UInt8]] = []
        while let line = rest.next() { lines.append(line) }
        return lines
    }

    /// Takes what has arrived; returns whether anything had, the end included.
    private mutating func receive() throws(SystemError) -> Bool {
        guard rest.count <= longest else {
            throw SystemError("read a line from a socket", errno: .messageTooLong)
        }
        do throws(SystemError) {
            guard let taken = try descriptor.received(upTo: Self.portion) else { return false }
            if taken.isEmpty { isClosed = true } else { rest.append(taken[...]) }
        } catch {
            guard error.errno == .connectionReset else { throw error }
            isClosed = true
        }
        return true
    }
}
