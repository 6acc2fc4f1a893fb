import FoundationEssentials
import Linux
import SystemPackage

/// One message on the socket: its length in four bytes, big-endian, and that many bytes of JSON.
enum Frame {
    /// The largest message, in bytes: twice what a file may hold (1 MiB), which has room for every token of the largest
    /// file and the names of their slots.
    static let limit = 2 << 20
    static let headerLength = 4

    /// Why a message could not be read.
    enum Flaw: Error, Hashable, Sendable {
        /// The other side closed without sending anything.
        case nothing
        case truncated
        /// In bytes.
        case oversized(Int)
        case malformed
        /// The socket failed: `.timedOut`, `.canceled`, `.connectionReset`…
        case broken(Errno)
    }

    static func encode(_ message: some Encodable) throws(Flaw) -> [UInt8] {
        guard let body = try? JSONEncoder().encode(message) else { throw .malformed }
        guard body.count <= limit else { throw .oversized(body.count) }
        return (0..<headerLength).reversed().map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) } + body
    }

    static func read<Message: Decodable>(
        _ type: Message.Type, from stream: borrowing TimedStream
    ) throws(Flaw) -> Message {
        let header = try take(headerLength, from: stream)
        guard !header.isEmpty else { throw .nothing }
        let length = try bodyLength(header)
        let body = try take(length, from: stream)
        guard body.count == length else { throw .truncated }
        return try decode(type, body)
    }

    /// How many bytes follow this header.
    static func bodyLength(_ header: [UInt8]) throws(Flaw) -> Int {
        guard header.count == headerLength else { throw .truncated }
        let length = header.reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw .oversized(length) }
        return length
    }

    static func decode<Message: Decodable>(_ type: Message.Type, _ body: [UInt8]) throws(Flaw) -> Message {
        guard let message = try? JSONDecoder().decode(type, from: Data(body)) else { throw .malformed }
        return message
    }

    private static func take(_ count: Int, from stream: borrowing TimedStream) throws(Flaw) -> [UInt8] {
        do {
            return try stream.read(exactly: count)
        } catch {
            throw .broken(error.errno)
        }
    }
}
