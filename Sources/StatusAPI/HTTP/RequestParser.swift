import AppleClientSecret
import NIOCore
import NIOHTTP1

/// Reads requests from a connection's bytes, in the form that RFC 9112 gives them and in no other. The rules are:
///
/// - Nothing is repaired. Text that a server may read leniently (a bare LF, several spaces, a folded line) is refused. A program
///   in between may have read it otherwise.
/// - One field says how long a body is: a length of digits, or only `Transfer-Encoding: chunked`.
/// - A request without a valid Host is refused, and so is an address that is not `http`'s.
///
/// NIO's decoder does none of this. It accepts an empty or unknown transfer coding, any Host, other protocols' versions and chunk
/// extensions without end. Its output does not show them.
struct RequestParser {
    enum Part {
        case head(RequestHead)
        case body(ByteBuffer)
        case end
    }

    private enum State {
        case head
        /// How many bytes of the body are still to come.
        case body(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        /// Nothing that follows can be understood.
        case failed
    }

    private let limits: HTTPLimits
    private var state = State.head
    private var buffer = ByteBuffer()
    /// How many bytes of the line that is being received were looked at.
    private var scanned = 0
    /// How many bytes the head may still have; once it is read, the chunks' extensions and the trailers together.
    private var room: Int
    private var requestLine: RequestLine?
    private var headers = HTTPHeaders()
    private var fieldCount = 0
    /// The announced length of the body so far, in bytes.
    private(set) var bodyLength = 0

    init(limits: HTTPLimits) {
        self.limits = limits
        room = limits.headerSize
    }

    /// Whether a part of a request has arrived.
    var isPartial: Bool {
        if case .head = state { hasBytes || requestLine != nil } else { true }
    }

    /// Whether there are bytes to read.
    var hasBytes: Bool { buffer.readableBytes > 0 }

    mutating func append(_ bytes: inout ByteBuffer) {
        buffer.discardReadBytes()
        buffer.writeBuffer(&bytes)
    }

    /// The next part; nil when more bytes are needed, and for ever after it threw.
    mutating func next() throws(Problem) -> Part? {
        do throws(Problem) {
            while true {
                switch state {
                case .head:
                    guard let line = try line() else { return nil }
                    if let head = try take(headLine: line) { return .head(head) }
                case .body(0):
                    return finish()
                case .body(let left):
                    guard let bytes = read(atMost: left) else { return nil }
                    state = .body(left - bytes.readableBytes)
                    return .body(bytes)
                case .chunkSize:
                    guard let line = try line() else { return nil }
                    let (size, digits) = try size(ofChunk: line)
                    // Only extensions are limited: there may be as many chunks as the body has bytes.
                    room += digits + 2
                    let (sum, isTooMuch) = bodyLength.addingReportingOverflow(size)
                    bodyLength = isTooMuch ? .max : sum
                    state = size == 0 ? .trailers : .chunk(size)
                case .chunk(0):
                    state = .chunkEnd
                case .chunk(let left):
                    guard let bytes = read(atMost: left) else { return nil }
                    state = .chunk(left - bytes.readableBytes)
                    return .body(bytes)
                case .chunkEnd:
                    let end = buffer.readableBytesView.prefix(2)
                    guard "\r\n".utf8.starts(with: end) else { throw .strange }
                    guard end.count == 2 else { return nil }
                    buffer.moveReaderIndex(forwardBy: 2)
                    state = .chunkSize
                case .trailers:
                    guard let line = try line() else { return nil }
                    if line.isEmpty { return finish() }
                    // Read only for their end. A trailer that would change the head may have done so elsewhere (RFC 9110, section
                    // 6.5.1).
                    let name = try field(line).name.lowercased()
                    if ["content-length", "transfer-encoding", "host"].contains(name) { throw .strange }
                case .failed:
                    buffer.clear()
                    return nil
                }
            }
        } catch {
            state = .failed
            throw error
        }
    }

    private mutating func finish() -> Part {
        state = .head
        room = limits.headerSize
        requestLine = nil
        headers = HTTPHeaders()
        fieldCount = 0
        return .end
    }

    private mutating func read(atMost count: Int) -> ByteBuffer? {
        guard hasBytes else { return nil }
        return buffer.readSlice(length: min(count, buffer.readableBytes))
    }
}

// Lines.
extension RequestParser {
    /// The next line without its end; nil when more bytes are needed.
    private mutating func line() throws(Problem) -> [UInt8]? {
        let bytes = buffer.readableBytesView
        var index = bytes.startIndex + scanned
        while index < bytes.endIndex {
            let length = index - bytes.startIndex
            guard length < room else { throw tooLarge }
            let byte = bytes[index]
            if byte == 0x0D {
                // The next byte decides.
                guard index + 1 < bytes.endIndex else { break }
                guard bytes[index + 1] == 0x0A else { throw .strange }
                guard length + 2 <= room else { throw tooLarge }
                let line = Array(bytes[..<index])
                room -= length + 2
                buffer.moveReaderIndex(forwardBy: length + 2)
                scanned = 0
                return line
            }
            guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { throw .strange }
            index += 1
        }
        scanned = index - bytes.startIndex
        return nil
    }

    private var tooLarge: Problem {
        switch state {
        case .head where requestLine == nil:
            Problem(.uriTooLong, "the request's first line is too long: at most \(limits.headerSize) bytes are read")
        case .chunkSize:
            Problem(
                .badRequest,
                "the chunk extensions are too long: at most \(limits.headerSize) bytes are read")
        default: .headTooLarge(limits)
        }
    }

    /// Takes a line of the head; returns the head when this was its end.
    private mutating func take(headLine line: [UInt8]) throws(Problem) -> RequestHead? {
        guard let requestLine else {
            // Old clients send an empty line after a body (RFC 9112, section 2.2).
            if !line.isEmpty { self.requestLine = try RequestLine(line) }
            return nil
        }
        guard line.isEmpty else {
            let (name, value) = try field(line)
            headers.add(name: name, value: value)
            return nil
        }
        let head = try RequestHead(requestLine, headers)
        room = limits.headerSize
        switch head.framing {
        case .length(let length):
            bodyLength = length
            state = .body(length)
        case .chunked:
            bodyLength = 0
            state = .chunkSize
        }
        return head
    }

    /// A name, which the colon follows at once, and a value without the blanks around it.
    private mutating func field(_ line: [UInt8]) throws(Problem) -> (name: String, value: String) {
        fieldCount += 1
        guard fieldCount <= limits.headerFields else { throw .headTooLarge(limits) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), RequestSyntax.isToken(line[..<colon]) else {
            throw .strange
        }
        return (
            String(decoding: line[..<colon], as: UTF8.self),
            String(decoding: line[(colon + 1)...].trimming(while: \.isASCIIBlank), as: UTF8.self)
        )
    }

    /// The size of a chunk by its first line. Its extensions are ignored, because none are defined.
    private func size(ofChunk line: [UInt8]) throws(Problem) -> (size: Int, digits: Int) {
        let digits = line.prefix { Hex.value(of: $0) != nil }
        let extensions = line[digits.endIndex...].trimming(while: \.isASCIIBlank)
        guard (1...16).contains(digits.count),
            digits.endIndex == line.endIndex || extensions.first == UInt8(ascii: ";"),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .strange }
        return (size, digits.count)
    }
}

extension Problem {
    static var strange: Problem { Problem(.badRequest, "this is not an HTTP/1.1 request") }

    fileprivate static func headTooLarge(_ limits: HTTPLimits) -> Problem {
        Problem(
            .requestHeaderFieldsTooLarge,
            "the request's head is too large: at most \(limits.headerSize) bytes and \(limits.headerFields) fields are read"
        )
    }
}
