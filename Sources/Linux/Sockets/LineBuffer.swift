/// Lines that arrive in pieces. Each byte is looked at once, however small the pieces are.
package struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    /// The start of the next line.
    private var start = 0
    /// Before this is no end of the next line.
    private var scanned = 0

    package init() {}

    /// How many bytes have arrived of lines that were not taken.
    package var count: Int { bytes.count - start }

    package mutating func append(_ piece: some Sequence<UInt8>) { bytes += piece }

    /// The next line without its end; nil if none is complete.
    package mutating func next() -> [UInt8]? {
        guard let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            bytes.removeFirst(start)
            start = 0
            scanned = bytes.count
            return nil
        }
        defer {
            start = end + 1
            scanned = start
        }
        return Array(bytes[start..<end])
    }
}
