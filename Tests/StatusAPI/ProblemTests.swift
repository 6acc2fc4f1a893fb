import Model
import StatusAPI
import Testing

/// What a request gets that cannot be carried out, to the last byte.
struct ProblemTests {
    @Test func addresses() throws {
        let harness = try Harness(show: try Samples.snapshot())
        let rest =
            "there are /v1/status, /v1/clients/NAME, /v1/fleet, /v1/fleet/all, /v1/renew, /v1/clients/NAME/renew, "
            + "/v1/clients/NAME/rollout/{hold,resume,finish}, /v1/reload, /healthz, /readyz and /metrics"
        let long = "/" + String(repeating: "a", count: 300)
        for (target, shown) in [
            ("/", "/"), ("/v1", "/v1"), ("/v1/status/", "/v1/status/"), ("/v1/clients/", "/v1/clients/"),
            ("/v1/clients/web/x", "/v1/clients/web/x"), ("//healthz", "//healthz"), ("http://h", "/"),
            (long, long.prefix(80) + "…"),
        ] {
            expectSame(
                try harness.ask("GET", target),
                Texts.problem(404, "Not Found", "there is nothing at \"\(shown)\"; \(rest)"))
        }
    }

    @Test func clients() throws {
        let harness = try Harness(show: try Samples.snapshot())
        for (name, words) in [
            ("wbe", #"there is no client "wbe" (did you mean "web"?)"#), ("other", #"there is no client "other""#),
            ("w%2Fb", #"there is no client "w%2Fb""#),
        ] {
            expectSame(try harness.ask("GET", "/v1/clients/\(name)"), Texts.problem(404, "Not Found", words))
            expectSame(try harness.ask("POST", "/v1/clients/\(name)/renew"), Texts.problem(404, "Not Found", words))
        }
        expectSame(
            try harness.ask("POST", "/v1/renew", body: #"{"clients":["web","1","2","3","4","5","6"]}"#),
            Texts.problem(404, "Not Found", #"there is no client "1", "2", "3", "4", "5" and 1 more"#))
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func methods() throws {
        let harness = try Harness(show: try Samples.snapshot())
        for (method, target, allow) in [
            ("POST", "/v1/status", "GET, HEAD"), ("DELETE", "/v1/clients/web", "GET, HEAD"),
            ("OPTIONS", "/healthz", "GET, HEAD"), ("PUT", "/readyz", "GET, HEAD"), ("TRACE", "/metrics", "GET, HEAD"),
            ("GET", "/v1/renew", "POST"), ("GET", "/v1/reload", "POST"), ("PATCH", "/v1/clients/web/renew", "POST"),
        ] {
            expectSame(
                try harness.ask(method, target),
                Texts.problem(
                    405, "Method Not Allowed", "\(method) is not allowed for this address; use \(allow)",
                    extra: "allow: \(allow)\r\n"))
        }
        let head = try harness.ask("HEAD", "/v1/renew")
        #expect(head.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n") && head.hasSuffix("\r\n\r\n"))
        #expect(harness.rotation.asked.isEmpty)
    }

    private static let unknown = "there is no such member; there are clients, due_within, deliver_only, skip_verify"
    private static let span = #"'due_within': expected seconds as a number, or a span such as "21d""#

    @Test(arguments: [
        ("{", "it is not JSON"),
        ("[]", "expected an object"),
        (String(repeating: "[", count: 60_000), "it is nested deeper than 32 levels"),
        ("null", "expected an object, found null"),
        (#"{"client":["web"]}"#, "'client': \(unknown)"),
        (#"{"g":1,"e":1,"c":1,"a":1,"b":1,"d":1,"f":1}"#, "'a': \(unknown)"),
        // Whoever misspells two things learns first of the member that does not exist.
        (#"{"clients":"web","due_witin":"3d"}"#, "'due_witin': \(unknown)"),
        // Somebody may have pasted the wrong thing.
        ("{\"\(String(repeating: "aB3-", count: 20))\":1}", "'(80 characters)': \(unknown)"),
        (#"{"clients":"web"}"#, "'clients': expected a list"),
        (#"{"clients":[1]}"#, "'clients[0]': expected a string"),
        (#"{"deliver_only":1}"#, "'deliver_only': expected true or false"),
        (#"{"due_within":"21"}"#, span), (#"{"due_within":"1h1d"}"#, span), (#"{"due_within":-1}"#, span),
        (#"{"due_within":"99999999999999999999d"}"#, span), (#"{"due_within":1.5}"#, span),
    ])
    func bodies(body: String, what: String) throws {
        let harness = try Harness(show: try Samples.snapshot())
        expectSame(
            try harness.ask("POST", "/v1/renew", body: body),
            Texts.problem(400, "Bad Request", "the body is not a renewal: " + what))
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func otherBodies() throws {
        let harness = try Harness(show: try Samples.snapshot())
        expectSame(
            try harness.ask("POST", "/v1/renew", body: #"{"clients":[]}"#),
            Texts.problem(400, "Bad Request", #""clients" is empty; leave it out to renew all of them"#))
        expectSame(
            try harness.ask("POST", "/v1/clients/web/renew", body: #"{"clients":["api"]}"#),
            Texts.problem(
                400, "Bad Request", #"the address names the client; leave "clients" out of the body"#))
        expectSame(
            try harness.ask("POST", "/v1/reload", body: "{}"),
            Texts.problem(400, "Bad Request", "a reload takes no body; send none"))
        let send = #"; send JSON with "Content-Type: application/json""#
        expectSame(
            try harness.ask("POST", "/v1/renew", body: "a=b", type: "application/x-www-form-urlencoded"),
            Texts.problem(
                415, "Unsupported Media Type", "the body has the type application/x-www-form-urlencoded" + send))
        expectSame(
            try harness.ask("POST", "/v1/renew", body: "{}", type: nil),
            Texts.problem(
                415, "Unsupported Media Type", "the body has the type (none)" + send))
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func heads() throws {
        let harness = try Harness(show: try Samples.snapshot())
        let fields = (0..<65).map { "X\($0): a\r\n" }.joined()
        let large = Texts.problem(
            431, "Request Header Fields Too Large",
            "the request's head is too large: at most 8192 bytes and 64 fields are read")
        expectSame(try harness.exchange("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"), large)
        let long = String(repeating: "a", count: 9000)
        expectSame(
            try harness.exchange("GET /\(long) HTTP/1.1\r\nHost: h\r\n\r\n"),
            Texts.problem(
                414, "URI Too Long", "the request's first line is too long: at most 8192 bytes are read"))
        expectSame(try harness.exchange("GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n"), large)
        // One that never ends costs no more than one that does.
        expectSame(try harness.exchange("GET / HTTP/1.1\r\nHost: h\r\nX: \(long)"), large)
        let version = Texts.problem(400, "Bad Request", "only HTTP/1.1 and HTTP/1.0 are supported")
        expectSame(try harness.exchange("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), version)
        let strange = Texts.problem(400, "Bad Request", "this is not an HTTP/1.1 request")
        for text in [
            "hello\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / SMTP/1.1\r\n\r\n",
        ] {
            expectSame(try harness.exchange(text), strange)
        }
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func sizes() throws {
        // Four megabytes may take longer than a request may, where a sanitizer looks on.
        let harness = try Harness(
            limits: { $0.requestTime = 600_000 }, show: try Samples.snapshot(), answer: { _ in .renewed([]) })
        let large = Texts.problem(413, "Payload Too Large", "the body is too large: at most 65536 bytes are read")
        let body = #"{"clients":null}"# + String(repeating: " ", count: 65_536 - 16)
        expectSame(
            try harness.ask("POST", "/v1/renew", body: body),
            Texts.answer("200 OK", "application/json", "{\"outcomes\":[]}\n"))
        expectSame(try harness.ask("POST", "/v1/renew", body: body + " "), large)
        // One who sends all of it before looking at the answer gets to see it.
        let patient = try harness.connect()
        let huge = String(repeating: " ", count: 4 << 20)
        try patient.send(Texts.request("POST", "/v1/renew", body: huge))
        expectSame(try patient.readToEnd(), large)
        // Told only when it has come: in chunks.
        let head =
            "POST /v1/renew HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunks = "10000\r\n\(body)\r\n1\r\n \r\n0\r\n\r\n"
        expectSame(try harness.exchange(head + chunks), large)
        #expect(harness.rotation.asked.count == 1)
    }
}
