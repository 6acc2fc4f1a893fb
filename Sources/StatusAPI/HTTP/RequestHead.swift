import AppleClientSecret
import NIOHTTP1

/// The first line of a request.
struct RequestLine {
    let method: HTTPMethod
    /// The target's path and query; `*` for a request about the server as a whole.
    let path: String
    /// The host in a target that is a whole address; nil in one that is a path.
    let authority: RequestAuthority?
    let isVersion10: Bool

    /// The methods of RFC 9110, PATCH and QUERY, which addresses may know or not; CONNECT is for proxies.
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    init(_ line: [UInt8]) throws(Problem) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, RequestSyntax.isToken(words[0]) else { throw .strange }
        let version = Array(words[2])
        guard version.count == 8, version.starts(with: "HTTP/".utf8), version[5].isASCIIDigit,
            version[6] == UInt8(ascii: "."), version[7].isASCIIDigit
        else { throw .strange }
        guard version[5] == UInt8(ascii: "1") else {
            throw Problem(.badRequest, "only HTTP/1.1 and HTTP/1.0 are supported")
        }
        // A later HTTP/1 is answered like this one (RFC 9110, section 2.5).
        isVersion10 = version[7] == UInt8(ascii: "0")
        let name = String(decoding: words[0], as: UTF8.self)
        guard Self.methods.contains(name) else {
            throw Problem(.notImplemented, "there is no method \(Problem.shortened(name)) here; use GET, HEAD or POST")
        }
        method = HTTPMethod(rawValue: name)
        (path, authority) = try Self.target(words[1], isForServer: method == .OPTIONS)
    }

    private static func target(
        _ text: ArraySlice<UInt8>, isForServer: Bool
    ) throws(Problem) -> (path: String, authority: RequestAuthority?) {
        if text.first == UInt8(ascii: "/") { return (try path(text), nil) }
        if isForServer, text.elementsEqual("*".utf8) { return ("*", nil) }
        let scheme = text.prefix { $0 != UInt8(ascii: ":") }
        let rest = text[scheme.endIndex...]
        guard rest.starts(with: "://".utf8) else { throw .notAnAddress }
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "http" else {
            throw Problem(.misdirectedRequest, "only http is served here")
        }
        let name = rest.dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        guard let authority = RequestAuthority(name) else { throw .notAnAddress }
        let tail = text[name.endIndex...]
        return (tail.first == UInt8(ascii: "/") ? try path(tail) : "/" + (try path(tail)), authority)
    }

    private static func path(_ text: ArraySlice<UInt8>) throws(Problem) -> String {
        guard RequestSyntax.isURI(text, or: ":@/?") else { throw .notAnAddress }
        return PercentCoding.reduced(text)
    }
}

/// A request's head, whose fields do not contradict each other.
struct RequestHead {
    enum Framing: Hashable {
        /// The body's length in bytes.
        case length(Int)
        case chunked
    }

    let line: RequestLine
    let headers: HTTPHeaders
    /// The host that was asked: the target's, else that of the field Host; nil if both are missing.
    let authority: RequestAuthority?
    let framing: Framing
    /// Whether the client keeps the connection for another request.
    let isKeptAlive: Bool
    /// Whether the client waits for a word before it sends the body.
    let awaitsContinue: Bool

    init(_ line: RequestLine, _ headers: HTTPHeaders) throws(Problem) {
        self.line = line
        self.headers = headers
        authority = try Self.host(line, headers).map { line.authority ?? $0 } ?? line.authority
        framing = try Self.framing(line, headers)
        let options = RequestSyntax.members(headers["connection"])
        isKeptAlive = !options.contains("close") && (!line.isVersion10 || options.contains("keep-alive"))
        // HTTP/1.0 knows no interim answer (RFC 9110, section 10.1.1).
        awaitsContinue =
            !line.isVersion10 && framing != .length(0)
            && RequestSyntax.members(headers["expect"]).contains("100-continue")
    }

    /// RFC 9112, section 3.2: without Host, with two or with something else in it, the requested server is unclear. It is empty
    /// if the address has no authority, as that of a Unix socket has none.
    private static func host(_ line: RequestLine, _ headers: HTTPHeaders) throws(Problem) -> RequestAuthority? {
        let hosts = headers["host"]
        if hosts.isEmpty, line.isVersion10 { return nil }
        guard hosts.count == 1 else {
            throw Problem(.badRequest, "an HTTP/1.1 request must have exactly one Host field")
        }
        if hosts[0].isEmpty { return nil }
        guard let host = RequestAuthority(Array(hosts[0].utf8)) else {
            throw Problem(.badRequest, "the Host field holds no host; write one such as localhost")
        }
        return host
    }

    /// RFC 9112, section 6.3: if the length of a body is unclear, the bytes after it could be read as another request.
    private static func framing(_ line: RequestLine, _ headers: HTTPHeaders) throws(Problem) -> Framing {
        let lengths = headers["content-length"]
        guard !headers.contains(name: "transfer-encoding") else {
            let codings = RequestSyntax.members(headers["transfer-encoding"])
            guard lengths.isEmpty, !line.isVersion10, codings.last == "chunked",
                codings.count(where: { $0 == "chunked" }) == 1
            else { throw .unclearLength }
            guard codings.count == 1 else {
                throw Problem(.notImplemented, "the only supported transfer coding is chunked; remove others")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .length(0) }
        guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(\.isASCIIDigit) else {
            throw .unclearLength
        }
        return .length(Int(length) ?? .max)
    }
}

extension Problem {
    fileprivate static var notAnAddress: Problem {
        Problem(.badRequest, "the request's target is neither a path nor an http address")
    }

    fileprivate static var unclearLength: Problem {
        Problem(
            .badRequest,
            "it is unclear how long the body is; send one Content-Length, or Transfer-Encoding: chunked, and not both")
    }
}
