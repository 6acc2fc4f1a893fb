import AppleClientSecret
import Model
import StatusAPI
import Testing

/// Which requests are read at all: by RFC 9112 and RFC 9110, whose sections stand beside them.
struct RequestFormTests {
    private static func post(_ fields: String..., body: String = "", version: String = "1.1") -> String {
        (["POST /v1/reload HTTP/\(version)"] + fields + ["Connection: close", "", body]).joined(separator: "\r\n")
    }

    private static func coded(_ coding: String, _ body: String = "0\r\n\r\n") -> String {
        post("Host: h", "Transfer-Encoding:\(coding)", body: body)
    }

    private static func get(_ line: String, _ fields: String = "Host: h") -> String {
        [line, fields, "Connection: close", "", ""].joined(separator: "\r\n")
    }

    /// 3.2: "A server MUST respond with a 400 … to any HTTP/1.1 request message that lacks a Host header field and to any
    /// request message that contains more than one Host header field line or a Host header field with an invalid field
    /// value."
    private static let hosts =
        [
            "a b", "u@b", "u:p@b", ":80", "a,b", "a, b", "a/b", "a?b", "a#b", "a\\b", "a\tb", "a:b", "a:1:2", "a:-1",
            "a:65536",
            "[::1", "::1", "[x]", "[::1]x", "a%", "a%4", "a%zz", "<a>", "\"a\"", "{a}", "é", "http://a",
        ].map { post("Host: \($0)") } + [
            post(), post("Host: a", "Host: b"), post("Host: a", "hOST: a"), post("Host: a b", version: "1.0"),
            post("Host: a", "Host: a", version: "1.0"),
        ]

    /// 6.1 and 6.3: chunked comes last, once and without parameters; with a length, or in HTTP/1.0, the framing is faulty.
    private static let lengths =
        [
            "", " ", ",", " gzip", " chunked, gzip", " chunked, chunked", " chunked;q=1", " xchunked", " \"chunked\"",
            " identity",
        ].map { coded($0) } + [
            post("Host: h", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
            post("Host: h", "Transfer-Encoding:", "Content-Length: 0"),
            post("Host: h", "Content-Length: 0", "Transfer-Encoding:"),
            post("Host: h", "Transfer-Encoding: chunked", "Content-Length: 5", body: "0\r\n\r\n"),
            post("Host: h", "Content-Length: 0", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
            post("Transfer-Encoding: chunked", body: "0\r\n\r\n", version: "1.0"),
        ] + ["", "+0", "-0", "0x0", "0,0", "0, 0", "0 0", "x", "1e0"].map { post("Host: h", "Content-Length: \($0)") }
        + [
            post("Host: h", "Content-Length: 0", "Content-Length: 0"),
            post("Host: h", "Content-Length: 0", "Content-Length: 1"),
        ]

    /// 7.1.
    private static let chunks = [
        "0;a=\(String(repeating: "b", count: 9000))\r\n\r\n",
        String(repeating: "1;\(String(repeating: "b", count: 1000))\r\nx\r\n", count: 9) + "0\r\n\r\n",
        "0;a\n\r\n", "0;a\rb\r\n\r\n", "0\n\n", "0\r\n\n", "0\r\r", "0 \r\n\r\n", " 0\r\n\r\n", "+0\r\n\r\n",
        "-1\r\n\r\n",
        "0x0\r\n\r\n", "\r\n\r\n", "00000000000000000\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n", "1\r\naX\r\n0\r\n\r\n",
        "1\r\na\n0\r\n\r\n", "0\r\nX y\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\nContent-Length: 5\r\n\r\n", "0\r\nHost: b\r\n\r\n",
    ].map { coded(" chunked", $0) }

    /// 2.2, 3 and 5: line ends, blanks and names.
    private static let lines =
        [
            "POST /v1/reload HTTP/1.1\nHost: h\n\n", "POST /v1/reload HTTP/1.1\r\nHost: h\n\r\n",
            "POST /v1/reload HTTP/1.1\r\nHost: h\r\n\n", "POST /v1/reload HTTP/1.1\rHost: h\r\r",
            "\nPOST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n", "\rPOST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n",
            " POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n", "POST  /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST /v1/reload  HTTP/1.1\r\nHost: h\r\n\r\n", "POST /v1/reload HTTP/1.1 \r\nHost: h\r\n\r\n",
            "POST\t/v1/reload\tHTTP/1.1\r\nHost: h\r\n\r\n", "POST /v1/reload\r\nHost: h\r\n\r\n",
            "POST /v1/reload HTTP/1.1\r\n Host: h\r\n\r\n", post("Host: h", "X: a\r\n b"),
            post("Host: h", "X: a\r\n\tb"),
            post("Host: h", "X:\r\n b"), post("Host:\r\n h"),
            post("Host: h", "Transfer-Encoding:\r\n chunked", body: "0\r\n\r\n"),
            post("Host: h", "X: a\r\n "), post("Host : h"), post("Host\t: h"), post("Host: h", "X Y: a"),
            post("Host: h", ": a"),
            post("Host: h", "X"), post("Host: h", "X(: a"), post("Host: h", "X: a\rb"), post("Host: h", "X: a\r"),
            post("Host: h", "X: a\nY: b"), post("Host: h", "X: a\0b"), post("Host: h", "X: \u{1}"),
            post("Host: h", "X: \u{7F}"),
        ]
        + [
            "HTTP/2.0", "HTTP/0.9", "HTTP/1.", "HTTP/1.01", "HTTP/01.1", "http/1.1", "RTSP/1.0", "HTTP/1,1", "HTTP/11",
        ].map { "POST /v1/reload \($0)\r\nHost: h\r\n\r\n" }

    /// 3.2.
    private static let targets =
        [
            "v1/reload", "*", "h:80", "http:/v1/reload", "http:///v1/reload", "http://u@h/v1/reload",
            "http://a:x/v1/reload",
            "/v1/reload#a", "/v1/reload?a#b", "/v1/%zz", "/v1/%4", "/v1/\"", "/v1/<", "/v1/{", "/v1/\\", "/v1/|",
            "/v1/é", "",
        ].map { get("POST \($0) HTTP/1.1") } + [get("POST http://h/v1/reload HTTP/1.1", "Host: a b")]

    @Test(arguments: hosts + lengths + chunks + lines + targets)
    func refusesWhatIsUnclear(_ request: String) throws {
        try expect(400, request)
    }

    /// 3: "501 (Not Implemented)" for a method that is not known; 6.1: for a transfer coding.
    @Test(arguments: [
        coded(" gzip, chunked"), coded(" identity, chunked"), coded(" x, ,chunked"),
        post("Host: h", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
        get("reload /v1/reload HTTP/1.1"), get("post /v1/reload HTTP/1.1"), get("RELOAD /v1/reload HTTP/1.1"),
        get("CONNECT h:80 HTTP/1.1"),
    ])
    func saysWhatIsNotImplemented(_ request: String) throws {
        try expect(501, request)
    }

    /// RFC 9110, 7.4, and the limits.
    @Test(arguments: [
        (421, get("POST https://h/v1/reload HTTP/1.1")), (421, get("POST ftp://h/v1/reload HTTP/1.1")),
        (413, coded(" chunked", "FFFFFFF\r\n")), (413, post("Host: h", "Content-Length: 99999999999999999999")),
        (431, coded(" chunked", "0\r\n" + String(repeating: "X: y\r\n", count: 70) + "\r\n")),
        (431, coded(" chunked", "0\r\nX: \(String(repeating: "y", count: 9000))\r\n\r\n")),
        (414, String(repeating: "\r\n", count: 5000) + get("POST /v1/reload HTTP/1.1")),
    ])
    func saysWhatElseIsWrong(_ status: Int, _ request: String) throws {
        try expect(status, request)
    }

    /// What a server has to take, or may and commonly does.
    @Test(arguments: [
        // 3.2: "If the authority component is missing or undefined for the target URI, then a client MUST send a Host header
        // field with an empty field value": that of a Unix socket has none.
        post("Host:"), post("Host: "), post("Host: %6c"), get("POST /v1/%72elo%61d HTTP/1.1"),
        get("POST http://h/%761/reload HTTP/1.1", "Host:"),
        post("Host: h:80"), post("Host:h"), post("Host: [::1]:1"), post("Host: h:"), post("Host:\th\t"),
        post(version: "1.0"),
        post("Host: h", "X:\ta\tb\t"), post("Host: h", "X: é"), post("Host: h", "X:"), post("Host: h", version: "1.2"),
        post("Host: h", "Content-Length:\t0\t"), post("Host: h", "Content-Length: 00"),
        post("Host: h", "Transfer_Encoding: x"),
        coded("\tChunked\t"), coded(" , chunked"), coded(" chunked", "0;a=\"b\"\r\n\r\n"),
        coded(" chunked", "000;a\r\n\r\n"),
        coded(" chunked", "0\r\nX: y\r\n\r\n"), "\r\n" + post("Host: h"), get("POST http://h/v1/reload HTTP/1.1"),
        get("POST HTTP://h:1/v1/reload?a=%41 HTTP/1.1", "Host: other"),
        post("Host: h", "Connection: Upgrade\r\nUpgrade: h2c"),
    ])
    func takesWhatIsClear(_ request: String) throws {
        try expect(200, request)
    }

    /// As many chunks as a body has bytes.
    @Test func takesABodyInManyChunks() throws {
        let harness = try Harness(show: try Samples.snapshot(), answer: { _ in .renewed([]) })
        let body = "{}" + String(repeating: " ", count: 20_000)
        let chunks = body.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
        let head = "POST /v1/renew HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
        #expect(
            try harness.exchange(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    /// An interim answer is for those who wait for it, and HTTP/1.0 knows none (RFC 9110, 10.1.1).
    @Test func aClientThatDoesNotWaitGetsNoInterimAnswer() throws {
        let harness = try Harness(show: try Samples.snapshot(), answer: { _ in .renewed([]) })
        for request in [
            "POST /v1/renew HTTP/1.0\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/renew HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        ] {
            #expect(try harness.exchange(request).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    /// "close" counts however it is written (9.6), so that nothing behind it is carried out.
    @Test(arguments: ["close\t", "\tClose", "keep-alive, close", "TE,close"])
    func nothingIsCarriedOutBehindAClose(_ option: String) throws {
        let harness = try Harness(show: try Samples.snapshot(.ok), answer: { _ in .reloaded(unserved: []) })
        _ = try harness.exchange(
            "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection:\(option)\r\n\r\nPOST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        #expect(harness.rotation.asked.isEmpty)
    }

    /// The whole answer is one of this status, and the rotation was asked where it is 200 alone; the same for each byte by
    /// itself.
    private func expect(_ status: Int, _ request: String) throws {
        let harness = try Harness(show: try Samples.snapshot(), answer: { _ in .reloaded(unserved: []) })
        let connection = try harness.connect()
        try connection.send(request)
        connection.endSending()
        let answer = try connection.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(harness.rotation.asked == (status == 200 ? [.reload] : []))
        #expect(answer.ranges(of: "cache-control: ").count == 1)
        if status != 200 { #expect(answer.contains("\r\ncontent-type: application/problem+json\r\n")) }
    }
}
