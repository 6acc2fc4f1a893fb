import StatusAPI
import Testing

/// Requests and answers as they pass over the wire.
enum Texts {
    /// A request that asks for the connection's end.
    static func request(_ method: String, _ target: String, body: String? = nil, type: String? = "application/json")
        -> String
    {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        if let body {
            if let type { head += "Content-Type: \(type)\r\n" }
            head += "Content-Length: \(body.utf8.count)\r\n"
        }
        return head + "\r\n" + (body ?? "")
    }

    /// A whole answer; `body` is nil for one to HEAD, whose length is `length`.
    static func answer(
        _ status: String, _ type: String, _ body: String?, length: Int? = nil, extra: String = "",
        connection: String? = "close"
    ) -> String {
        "HTTP/1.1 \(status)\r\ncontent-type: \(type)\r\ncontent-length: \(length ?? body?.utf8.count ?? 0)\r\n"
            + "cache-control: no-store\r\n" + extra + (connection.map { "connection: \($0)\r\n" } ?? "") + "\r\n"
            + (body ?? "")
    }

    /// The answer to a reload that leaves nothing to say.
    static func reloaded(connection: String? = "close") -> String {
        answer("200 OK", "application/json", #"{"unserved":[],"orphaned":[]}"# + "\n", connection: connection)
    }

    /// An answer that ends the connection with problem details.
    static func problem(
        _ status: Int, _ title: String, _ detail: String, extra: String = "", members: String = ""
    ) -> String {
        let quoted = detail.replacing("\"", with: "\\\"")
        return answer(
            "\(status) \(title)", "application/problem+json",
            #"{"type":"about:blank","title":"\#(title)","status":\#(status),"detail":"\#(quoted)"\#(members)}"# + "\n",
            extra: extra)
    }

    static func line(_ status: String, _ text: String) -> String {
        answer(status, "text/plain; charset=utf-8", text + "\n")
    }
}

extension String {
    /// Without the fields that say when an answer was made, in the one form that RFC 9110, section 5.6.7, has for them.
    var undated: String {
        replacing(/date: [A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT\r\n/, with: "")
    }
}

/// Expects two texts to be the same, and shows both when they are not: the macro shows neither where a call may throw.
func expectSame(_ actual: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(actual == expected, sourceLocation: sourceLocation)
}
