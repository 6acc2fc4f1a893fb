import NIOCore
import NIOHTTP1

/// An answer that is ready to be sent.
struct Reply {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: ByteBuffer

    init(_ status: HTTPResponseStatus, _ contentType: String, _ body: ByteBuffer) {
        self.status = status
        headers = [
            "content-type": contentType, "content-length": String(body.readableBytes),
            // A cached answer would show an outdated health state.
            "cache-control": "no-store",
        ]
        self.body = body
    }

    static func json(_ text: String) -> Reply {
        Reply(.ok, "application/json", ByteBuffer(string: text + "\n"))
    }

    static func text(_ status: HTTPResponseStatus, _ line: String) -> Reply {
        Reply(status, "text/plain; charset=utf-8", ByteBuffer(string: line + "\n"))
    }

    init(_ problem: Problem) {
        self.init(
            HTTPResponseStatus(statusCode: problem.status), "application/problem+json",
            ByteBuffer(string: problem.json + "\n"))
        if let allow = problem.allow { headers.add(name: "allow", value: allow) }
        if let seconds = problem.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
    }
}
