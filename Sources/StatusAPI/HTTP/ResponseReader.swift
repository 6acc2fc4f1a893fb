/// Parses an HTTP/1.1 answer from the bytes received, in the form that the daemon sends and no other.
struct ResponseReader {
    /// The problem with an answer.
    struct Failure: Error {
        let what: String
    }

    /// The daemon's heads take 200 bytes.
    private static let largestHead = 8192
    /// The document of 5,000 clients takes ten MiB.
    private static let largestBody = 64 << 20

    private var bytes: [UInt8] = []
    private var head: (status: Int, contentType: String, length: Int)?

    /// Takes more bytes, or none at the end of the stream; returns the response once it is complete.
    mutating func take(_ more: [UInt8]) throws(Failure) -> StatusClient.Response? {
        bytes += more
        if head == nil { try readHead() }
        if let head, bytes.count >= head.length {
            guard bytes.count == head.length else { throw Failure(what: "bytes follow its answer") }
            return StatusClient.Response(status: head.status, contentType: head.contentType, body: bytes)
        }
        guard !more.isEmpty else {
            throw Failure(what: "it hung up in the middle of its answer")
        }
        return nil
    }

    private mutating func readHead() throws(Failure) {
        let window = bytes.prefix(Self.largestHead)
        if window.count >= 5, !window.starts(with: "HTTP/".utf8) { throw Failure(what: "it is not HTTP") }
        guard let end = Self.endOfHead(in: window) else {
            guard bytes.count < Self.largestHead else { throw Failure(what: "its head does not end") }
            return
        }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", words[1].count == 3, let status = Int(words[1]), status >= 200
        else { throw Failure(what: "it is not HTTP/1.1") }
        var length: Int?
        var contentType = ""
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Failure(what: "a line of its head has no colon") }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon].lowercased() {
            case "content-length":
                guard length == nil, let count = Int(value), (0...Self.largestBody).contains(count) else {
                    throw Failure(what: "its length makes no sense")
                }
                length = count
            case "content-type":
                contentType = String(value)
            default:
                break
            }
        }
        guard let length else { throw Failure(what: "it does not say how long its answer is") }
        head = (status, contentType, length)
        bytes.removeFirst(end + 4)
    }

    private static func endOfHead(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: "\r\n\r\n".utf8) }
    }
}
