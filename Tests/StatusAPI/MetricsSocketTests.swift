import Glibc
import Model
import StatusAPI
import TestSupport
import Testing

/// The socket for monitoring, on which nobody is told apart. That it may be TCP is tried on a real systemd.
struct MetricsSocketTests {
    private let directory: TemporaryDirectory
    private let server: StatusServer

    init() throws {
        directory = try TemporaryDirectory()
        server = try Self.server(at: directory("status"), metrics: directory("metrics"))
    }

    private static func server(
        at status: String, metrics: String, connections: Int = 64, version: String = Samples.version
    ) throws -> StatusServer {
        var limits = HTTPLimits()
        limits.connections = connections
        // Longer than any machine is busy: no deadline decides what becomes of a connection here.
        limits.requestTime = 300_000
        limits.answerTime = 300_000
        let server = try StatusServer(
            listener: try listen(at: status), metrics: try listen(at: metrics),
            control: ControlPermission(daemonUser: geteuid()), limits: limits, handle: { _, _, _ in })
        var snapshot = try Samples.snapshot()
        snapshot.version = version
        server.show(snapshot)
        return server
    }

    private func ask(
        _ method: String, _ target: String, host: String = "127.0.0.1:9467", at socket: String = "metrics"
    ) throws -> String {
        let connection = try Connection(to: directory(socket))
        try connection.send("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        let status = try connection.readToEnd().split(separator: "\r\n").first
        return String(status?.dropFirst("HTTP/1.1 ".count).prefix(3) ?? "none")
    }

    @Test func onlyMonitoringIsAnswered() throws {
        defer { server.stop() }
        for target in ["/metrics", "/healthz", "/readyz"] {
            #expect(try ask("GET", target) == "200", "\(target)")
            #expect(try ask("POST", target) == "405", "\(target)")
        }
        for target in ["/v1/status", "/v1/clients/web", "/v1/renew", "/v1/clients/web/renew", "/v1/reload", "/"] {
            #expect(try ask("GET", target) == "404", "\(target)")
            // Not even by the daemon's own user, whom the status socket would know.
            #expect(try ask("POST", target) == "404", "\(target)")
        }
        #expect(try ask("GET", "/v1/status", at: "status") == "200")
    }

    @Test(arguments: [
        "localhost", "localhost:9467", "LOCALHOST", "localhost:", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:9467",
    ])
    func namesOfThisMachineAreAnswered(_ host: String) throws {
        defer { server.stop() }
        #expect(try ask("GET", "/metrics", host: host) == "200")
        // An empty one is right on the other socket, whose addresses name no host.
        #expect(try ask("GET", "/metrics", host: "") == "421")
        #expect(try ask("GET", "/healthz", host: "", at: "status") == "200")
    }

    /// A page whose name was made to point here sends its own name.
    @Test(arguments: [
        "example.com", "127.0.0.1.example.com", "localhost.example.com:9467", "127.0.0.256", "127.0.0", "10.0.0.1",
        "[::2]", "0.0.0.0", "127.0.0.01", "127.0.0.+1", "127.0.0.1.",
    ])
    func othersAreNot(_ host: String) throws {
        defer { server.stop() }
        #expect(try ask("GET", "/metrics", host: host) == "421")
        // The target's host counts, where it has one.
        #expect(try ask("GET", "http://\(host)/metrics") == "421")
        #expect(try ask("GET", "http://localhost/metrics", host: host) == "200")
    }

    /// Whatever anybody else keeps open, a scraper is answered. One that keeps its connection is as little in the way.
    @Test(arguments: [
        "", "GET /metrics HT", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ",
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1",
        "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ])
    func aSlowRequestKeepsNoOtherOut(_ beginning: String) throws {
        defer { server.stop() }
        let slow = try (0..<100).map { _ in
            let connection = try Connection(to: directory("metrics"))
            try connection.send(beginning)
            return connection
        }
        #expect(try ask("GET", "/metrics") == "200")
        // The oldest were ended without a word, unless their request was answered; the others still wait.
        let answer = try slow[0].readToEnd()
        #expect(answer.isEmpty || answer.hasSuffix("ready\n"))
        withExtendedLifetime(slow) {}
    }

    /// Metrics of more than a socket's buffers take are being sent for as long as nobody reads them.
    private func serverOfMuch() throws -> StatusServer {
        server.stop()
        return try Self.server(
            at: directory("much-status"), metrics: directory("much"), version: String(repeating: "v", count: 1 << 20))
    }

    private func askForMuch() throws -> Connection {
        let connection = try Connection(to: directory("much"))
        try connection.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(try connection.readSome().hasPrefix("HTTP/1.1 200 OK\r\n"))
        return connection
    }

    @Test func anUnreadAnswerKeepsNoOtherOut() throws {
        let much = try serverOfMuch()
        defer { much.stop() }
        let slow = try (0..<20).map { _ in try askForMuch() }
        #expect(try ask("GET", "/readyz", at: "much") == "200")
        withExtendedLifetime(slow) {}
    }

    @Test func connectionsWithoutARequestDisplaceNoAnswer() throws {
        let much = try serverOfMuch()
        defer { much.stop() }
        let scraper = try askForMuch()
        let slow = try (0..<100).map { _ in try Connection(to: directory("much")) }
        #expect(try slow[0].readToEnd() == "")
        #expect(try scraper.readToEnd().utf8.count > 1 << 20)
        withExtendedLifetime(slow) {}
    }

    /// They are in nobody's way on the status socket either.
    @Test func theStatusSocketIsNotKeptFromItsClients() throws {
        server.stop()
        let small = try Self.server(at: directory("small"), metrics: directory("small-metrics"), connections: 8)
        defer { small.stop() }
        let slow = try (0..<20).map { _ in try Connection(to: directory("small-metrics")) }
        #expect(try ask("GET", "/metrics", at: "small-metrics") == "200")
        // As many as there are places for root and the daemon's own user.
        let own = try (0..<8).map { _ in
            let connection = try Connection(to: directory("small"))
            try connection.send("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.read(upTo: "ready\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            return connection
        }
        withExtendedLifetime((slow, own)) {}
    }
}
