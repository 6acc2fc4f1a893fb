import Glibc
import Monitoring
import Rotation
import TestSupport
import Testing

/// The socket for monitoring, on which nobody is told apart. That it may be TCP is tried on a real systemd.
struct MetricsSocketTests {
    private let directory: TemporaryDirectory
    private let server: StatusServer

    init() throws {
        directory = try TemporaryDirectory()
        server = try StatusServer(
            listener: try listen(at: directory("status")), metrics: try listen(at: directory("metrics")),
            version: Samples.version, control: ControlPolicy(daemonUser: geteuid()), handle: { _, _ in })
        server.show(try Samples.snapshot())
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

    @Test(arguments: ["localhost", "localhost:9467", "LOCALHOST", "127.0.0.1", "127.1.2.3:80", "[::1]:9467"])
    func namesOfThisMachineAreAnswered(_ host: String) throws {
        defer { server.stop() }
        #expect(try ask("GET", "/metrics", host: host) == "200")
    }

    /// A page whose name was made to point here sends its own name.
    @Test(arguments: [
        "example.com", "127.0.0.1.example.com", "localhost.example.com:9467", "127.0.0.256", "127.0.0", "10.0.0.1",
        "[::2]",
        "", "0.0.0.0",
    ])
    func othersAreNot(_ host: String) throws {
        defer { server.stop() }
        #expect(try ask("GET", "/metrics", host: host) == "421")
        #expect(try ask("GET", "http://example.com/metrics") == "421")
    }
}
