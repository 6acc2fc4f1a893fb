import AppleClientSecret
import Foundation
import Model
import StatusAPI
import TestSupport
import Testing

/// How connections live and end.
struct HTTPConnectionTests {
    private static let text = "text/plain; charset=utf-8"

    private static func ok(_ connection: String?) -> String {
        Texts.answer("200 OK", text, "ok\n", connection: connection)
    }

    @Test func keptAlive() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let connection = try harness.connect()
        for _ in 0..<3 {
            try connection.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            expectSame(try connection.read(upTo: "ok\n"), Self.ok(nil))
        }
        try connection.send("GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try connection.read(upTo: "}\n").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        try connection.send(Texts.request("GET", "/healthz"))
        expectSame(try connection.readToEnd(), Self.ok("close"))
    }

    @Test func oldVersion() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        expectSame(try harness.exchange("GET /healthz HTTP/1.0\r\n\r\n"), Self.ok("close"))
        let connection = try harness.connect()
        try connection.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        expectSame(try connection.read(upTo: "ok\n"), Self.ok("keep-alive"))
        try connection.send("GET /healthz HTTP/1.0\r\n\r\n")
        expectSame(try connection.readToEnd(), Self.ok("close"))
    }

    /// RFC 9110, section 6.6.1.
    @Test(arguments: ["/healthz", "/nothing"]) func saysWhenItAnswered(_ target: String) throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let connection = try harness.connect()
        try connection.send(Texts.request("GET", target))
        let answer = try connection.readToEnd(withDate: true)
        #expect(answer != answer.undated, "\(answer)")
    }

    @Test func manyAtOnce() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let one = "GET /healthz HTTP/1.1\r\nHost:h\r\n\r\n"
        let last = Texts.request("GET", "/healthz")
        let connection = try harness.connect()
        try connection.send(String(repeating: one, count: 1000) + last)
        expectSame(try connection.readToEnd(), String(repeating: Self.ok(nil), count: 1000) + Self.ok("close"))
    }

    /// One thread serves all connections.
    @Test func manyRequestsOnOneConnectionKeepNoOtherWaiting() throws {
        var snapshot = try Samples.snapshot(.ok)
        // Metrics that take a while, in answers that a socket's buffer takes at once.
        snapshot.clients = Array(repeating: try Samples.web(), count: 500)
        let harness = try Harness(show: snapshot)
        let connection = try harness.connect()
        // So many that the server reads them at once.
        let count = 100
        try connection.send(String(repeating: "HEAD /metrics HTTP/1.1\r\nHost: h\r\n\r\n", count: count))
        let beginning = try connection.readSome()
        expectSame(try harness.ask("GET", "/healthz"), Self.ok("close"))
        let answers = (beginning + connection.arrived()).ranges(of: "HTTP/1.1 200 OK")
        #expect((1..<count).contains(answers.count), "\(answers.count)")
    }

    /// Answers come in the order of the requests, those that wait included; what cannot be read has its turn too.
    @Test func orderIsKept() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let get = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
        let connection = try harness.asking(
            get + "POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n" + get + "nonsense\r\n\r\n")
        expectSame(try connection.read(upTo: "ok\n"), Self.ok(nil))
        harness.rotation.answer(0, .reloaded(unserved: []))
        expectSame(
            try connection.readToEnd(),
            Texts.reloaded(connection: nil)
                + Self.ok(nil)
                + Texts.problem(400, "Bad Request", "this is not an HTTP/1.1 request"))
    }

    @Test func bodiesInPieces() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok), answer: { _ in .renewed([]) })
        let done = Texts.answer("200 OK", "application/json", "{\"outcomes\":[]}\n")
        let head = "POST /v1/renew HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
        expectSame(try harness.exchange(head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), done)
        let connection = try harness.connect()
        try connection.send(head + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        expectSame(try connection.read(upTo: "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n")
        try connection.send("{")
        try connection.send("}")
        expectSame(try connection.readToEnd(), done)
        #expect(harness.rotation.asked.count == 2)
    }

    /// `printf … | socat` says that it has nothing more to send and waits for the answer.
    @Test func aClientMayEndItsSide() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let connection = try harness.connect()
        try connection.send("POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n")
        connection.endSending()
        #expect(eventually { harness.rotation.asked == [.reload] })
        harness.rotation.answer(0, .reloaded(unserved: []))
        expectSame(try connection.readToEnd(), Texts.reloaded())
        let cut = try harness.connect()
        try cut.send("GET /healthz HT")
        cut.endSending()
        expectSame(try cut.readToEnd(), Texts.problem(400, "Bad Request", "this is not an HTTP/1.1 request"))
        let silent = try harness.connect()
        silent.endSending()
        expectSame(try silent.readToEnd(), "")
    }

    @Test func slowRequestsAreEnded() throws {
        let harness = try Harness(limits: { $0.requestTime = 1000 }, show: try Samples.snapshot(.ok))
        let late = Texts.problem(408, "Request Timeout", "the request was not sent whole within 1 s")
        expectSame(try harness.connect().drip("GET /healthz HTTP/1.1\r\nHost: h\r\nX: "), late)
        expectSame(
            try harness.connect().drip("POST /v1/reload HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n"), late)
        expectSame(
            try harness.connect().drip(
                "POST /v1/reload HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n"),
            late)
        // A kept connection's next request has its own deadline.
        let kept = try harness.connect()
        try kept.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        expectSame(try kept.read(upTo: "ok\n"), Self.ok(nil))
        expectSame(try kept.drip("GET /"), late)
        // Nothing to complain about to somebody who said nothing.
        expectSame(try harness.connect().readToEnd(), "")
        #expect(try eventually { try harness.openConnections() == 0 })
    }

    @Test func idleConnectionsAreEnded() throws {
        let harness = try Harness(limits: { $0.idleTime = 100 }, show: try Samples.snapshot(.ok))
        let connection = try harness.connect()
        try connection.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        expectSame(try connection.readToEnd(), Self.ok(nil))
    }

    @Test func anAnswerThatNoClientReadsIsGivenUp() throws {
        // More than a socket's buffers take.
        var snapshot = try Samples.snapshot()
        snapshot.configuration.error = String(repeating: "e", count: 4 << 20)
        let harness = try Harness(limits: { $0.answerTime = 1000 }, show: snapshot)
        let connection = try harness.connect()
        try connection.send(Texts.request("GET", "/v1/status"))
        #expect(try eventually { try harness.openConnections() == 0 })
        #expect(try connection.readToEnd().utf8.count < 4 << 20)
        // One who reads gets all of it, however long this machine takes.
        let patient = try Harness(show: snapshot)
        #expect(try patient.client.status().json == snapshot.json)
    }

    /// An outcome may take minutes.
    @Test func noDeadlineHoldsForTheOutcome() throws {
        let harness = try Harness(
            limits: { ($0.requestTime, $0.idleTime, $0.answerTime) = (1000, 1000, 1000) }, show: try Samples.snapshot())
        let connection = try harness.asking(Texts.request("POST", "/v1/reload"))
        // Another's deadline, which began later, passes meanwhile.
        expectSame(try harness.connect().readToEnd(), "")
        harness.rotation.answer(0, .reloaded(unserved: []))
        expectSame(try connection.readToEnd(), Texts.reloaded())
    }

    @Test func aClientThatGoesCancelsNothing() throws {
        let harness = try Harness(show: try Samples.snapshot())
        _ = try harness.asking(Texts.request("POST", "/v1/reload"))
        #expect(try eventually { try harness.openConnections() == 0 })
        harness.rotation.answer(0, .reloaded(unserved: []))
        harness.rotation.answer(0, .stopping)
        expectSame(try harness.ask("GET", "/readyz"), Texts.line("200 OK", "ready"))
    }

    /// What a client sends ahead waits on its own side.
    @Test func nothingIsReadAhead() throws {
        let harness = try Harness(show: try Samples.snapshot())
        let connection = try harness.asking("POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n")
        // The kernel's buffers take 400 KiB or so.
        #expect(connection.push("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n", limit: 8 << 20) < 2 << 20)
    }

    @Test func waitingRequestsAreBounded() throws {
        let harness = try Harness(limits: { $0.pendingRequests = 2 }, show: try Samples.snapshot())
        // Whoever is not root joins a request for the same that goes on.
        let waiting = try [("web", 1), ("api", 2)].map { name, number in
            try harness.asking(Texts.request("POST", "/v1/clients/\(name)/renew"), number: number)
        }
        let post = Texts.request("POST", "/v1/reload")
        expectSame(
            try harness.exchange(post),
            Texts.problem(
                503, "Service Unavailable", "2 requests are already waiting for their outcome; try again later",
                extra: "retry-after: 1\r\n"))
        harness.rotation.answer(0, .reloaded(unserved: []))
        _ = try harness.asking(post, number: 3)
        withExtendedLifetime(waiting) {}
    }

    @Test func stopping() throws {
        let harness = try Harness(show: try Samples.snapshot())
        let waiting = try harness.asking("POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n")
        let idle = try harness.connect()
        try idle.send("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try idle.read(upTo: "ready\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        harness.server.stop()
        expectSame(try waiting.readToEnd(), Texts.problem(503, "Service Unavailable", "the daemon is stopping"))
        expectSame(try idle.readToEnd(), "")
        harness.rotation.answer(0, .reloaded(unserved: []))
        // The listening socket is closed too. A caller reads the end of its answer before its connection is closed.
        #expect(try eventually { try harness.openConnections() == -1 })
        #expect(throws: StatusClientError.self) { try harness.client.status() }
    }

    /// A connection that the server has taken is no longer on the socket, where the next daemon would find it.
    @Test func aRequestUnderWayIsAnsweredBeforeTheServerStops() throws {
        // Longer than any machine is busy: what ends a connection here is to be the stop alone.
        let harness = try Harness(
            limits: { ($0.stopTime, $0.requestTime) = (300_000, 300_000) }, show: try Samples.snapshot())
        let silent = try harness.connect()
        let half = try harness.connect()
        try half.send("GET /healthz HTTP/1.1\r\n")
        // They are taken in the order in which they come: those before one that was answered are no longer on the socket.
        _ = try harness.client.status()
        let server = harness.server
        let stopped = Thread { server.stop() }
        stopped.start()
        #expect(eventually { (try? harness.client.status()) == nil })
        try silent.send("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        try half.send("Host: h\r\n\r\n")
        #expect(try half.readToEnd().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try silent.readToEnd().hasSuffix("ready\n"))
        #expect(eventually { stopped.isFinished })
    }

    /// A client that writes everything before it reads must not fail at writing.
    @Test(arguments: [
        "GET / HTTP/1.1\r\nX: ", "POST /v1/reload HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n",
    ])
    func aRefusedClientMayFinishItsRequest(begin: String) throws {
        // On a busy machine two megabytes may take longer than a client may send.
        let harness = try Harness(limits: { $0.requestTime = 600_000 }, show: try Samples.snapshot())
        let connection = try harness.connect()
        try connection.send(begin)
        #expect(connection.push("a", limit: 2 << 20) >= 2 << 20)
        #expect(try connection.readToEnd().hasPrefix("HTTP/1.1 4"))
    }

    @Test func aClientTurnedAwayMaySendItsRequest() throws {
        let harness = try Harness(limits: { $0.connections = 0 }, show: try Samples.snapshot())
        let connections = try (0..<50).map { _ in try harness.connect() }
        for connection in connections {
            // All but the last ones are closed, and their answers can be read.
            try? connection.send(Texts.request("GET", "/healthz"))
            #expect(try connection.readToEnd().hasPrefix("HTTP/1.1 503 "))
        }
        // A program that another test starts may inherit one for a moment.
        #expect(try eventually { try harness.openConnections() <= HTTPLimits().dismissedConnections })
        let connection = try harness.connect()
        #expect(try connection.readSome().hasPrefix("HTTP/1.1 503 "))
        try connection.send(Texts.request("GET", "/healthz"))
    }
}
