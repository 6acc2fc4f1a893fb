import Foundation
import TestSupport
import Testing

/// What can go wrong between here and Apple. Nothing of it is a verdict on the secret.
@Suite(.waits, .needs(.venv, .tools)) struct TransportTests {
    private let own: Operator

    init() throws {
        own = try Operator()
    }

    /// The reason why nothing is known.
    private func reason(_ finished: Finished) throws -> String? {
        #expect(finished.status == 3, "\(finished.output)\(finished.complaints)")
        let secrets = try #require(try object(finished.output)["secrets"] as? [[String: Any]])
        #expect(secrets.map { $0["verdict"] as? String } == ["unknown"])
        return secrets.first?["reason"] as? String
    }

    @Test(arguments: [
        ("silent", "timed_out"), ("slow", "timed_out"), ("reset", "connection_lost"), ("close", "answer_broken"),
        ("truncated", "answer_broken"), ("endless", "answer_too_long"), ("long-headers", "answer_too_long"),
        ("no-http", "not_http"),
        ("html", "unexpected_answer"), ("redirect", "redirected"), ("status=503", "unexpected_answer"),
        ("status=429", "unexpected_answer"), ("error=invalid_request", "unexpected_answer"),
    ])
    func anAnswerThatSaysNothing(action: String, expected: String) throws {
        let apple = try own.standIn()
        try apple.order("/auth/token \(action)")
        // Who answers at all has time for it, however busy the machine is.
        let timeout = expected == "timed_out" ? "2s" : "2m"
        #expect(try reason(own.ask(apple, "verify", "--json", "--timeout", timeout)) == expected)
        // Asked once, and nowhere else.
        #expect(try apple.log() == ["/auth/token told: \(action)"])
    }

    @Test(arguments: [
        (["--certificate", "expired"], "certificate_refused"),
        (["--certificate", "other-host"], "certificate_refused"),
        (["--certificate", "other-authority"], "certificate_refused"), (["--tls", "1.1"], "tls_failed"),
        (["--plain"], "tls_failed"),
    ])
    func aServerThatIsNotProvedToBeAppleIsSentNothing(standIn: [String], expected: String) throws {
        let apple = try own.standIn(standIn)
        #expect(try reason(own.ask(apple, "verify", "--json")) == expected)
        // The secret was not sent.
        #expect(try apple.log() == [])
    }

    /// The authority is trusted only where a flag says so.
    @Test func theMachinesAuthoritiesDoNotKnowTheStandIn() throws {
        let apple = try own.standIn()
        let finished = try own.clientsecretd("verify", "--json", "--endpoint", apple.address)
        #expect(try reason(finished) == "certificate_refused")
        #expect(try apple.log() == [])
    }

    @Test func aFileWithoutAuthorities() throws {
        let apple = try own.standIn()
        let empty = try own.directory.write("nothing", to: "none.pem")
        let unusable = try own.clientsecretd(
            "verify", "--json", "--endpoint", apple.address, "--ca-file", empty)
        #expect(try reason(unusable) == "ca_file_unusable")
        #expect(unusable.output.contains("BEGIN CERTIFICATE"))
        let missing = try own.clientsecretd(
            "verify", "--endpoint", apple.address, "--ca-file", own.directory("missing.pem"))
        #expect(missing.status == 66)
    }

    @Test func aServerThatIsNotThere() throws {
        for (address, expected) in [
            // A stand-in that has ended.
            (try own.standIn().address, "not_connected"),
            // Never resolved by anybody (RFC 6761, section 6.4).
            ("https://apple.invalid", "name_not_resolved"),
        ] {
            #expect(try reason(own.clientsecretd("verify", "--json", "--endpoint", address)) == expected)
        }
    }

    @Test func aServerWithIPv6Only() throws {
        let apple = try own.standIn("--address", "::1")
        #expect(apple.address.hasPrefix("https://[::1]:"))
        #expect(try own.ask(apple, "verify").status == 0)
    }

    /// By a proxy Apple's own name is reached, which nothing here resolves.
    @Test func aProxyFromTheEnvironmentIsUsed() throws {
        let apple = try own.standIn()
        let proxy = try Proxy(to: apple.port)
        let environment = ["https_proxy": proxy.address, "no_proxy": ""]
        let finished = try own.clientsecretd("verify", "--ca-file", apple.authority, environment: environment)
        #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        #expect(try proxy.log() == ["CONNECT appleid.apple.com:443"])
        #expect(try apple.log().count == 1)
    }

    @Test func aProxyThatRefuses() throws {
        let apple = try own.standIn()
        let proxy = try Proxy(to: apple.port, refusing: true)
        let finished = try own.clientsecretd(
            "verify", "--json", "--ca-file", apple.authority, environment: ["https_proxy": proxy.address])
        #expect(try reason(finished) == "proxy_failed")
        #expect(try apple.log() == [])
    }
}

/// The program itself, without a command before it.
@Suite(.waits, .needs(.venv, .tools)) struct NetworkProgramTests {
    private func ask(_ role: String, _ request: String) throws -> Finished {
        let program = Binaries.network
        return try run([program, role, "--endpoint", "https://127.0.0.1:1"], input: Data(request.utf8))
    }

    @Test(arguments: ["verify", "token", "revoke"])
    func faultsOfARequestAreNamed(role: String) throws {
        let long = "{\"code\":\"" + String(repeating: "x", count: 131_072) + "\"}"
        for (request, words) in [
            ("", "no request came"), ("\n", "no request came"), (long, "the request is longer than"),
        ] {
            let finished = try ask(role, request)
            #expect(finished.status == 64 && finished.output == "")
            #expect(finished.complaints.contains(words), "\(finished.complaints)")
        }
        let malformed = try ask(role, "[]")
        #expect((malformed.complaints + malformed.output).contains("the request is not a JSON object"))
    }

    /// What opens network connections is no part of the daemon's program.
    @Test func onlyTheNetworkProgramIsLinkedWithItsLibrary() throws {
        func needs(_ name: String) throws -> Bool {
            let listed = try run(["ldd", Binaries.folder + "/" + name])
            try #require(listed.output.contains("libc.so"), "\(listed.complaints)")
            return listed.output.contains("libcurl")
        }
        #expect(try needs("clientsecretd-network"))
        #expect(try !needs("clientsecretd"))
    }

    /// The longest that the commands take as a code, and a client secret, with every character escaped as a quote is.
    @Test func theLongestRequestIsTaken() throws {
        let code = String(repeating: "\\\"", count: 50_000)
        let finished = try ask("token", "{\"code\":\"\(code)\"}")
        #expect(finished.status == 0 && finished.output.contains("not_connected"), "\(finished.complaints)")
        #expect(finished.output.contains("\"may_be_sent\":false"))
    }
}

/// A proxy on loopback that connects to one port, whatever it is asked for.
final class Proxy {
    let address: String
    private let directory: TemporaryDirectory
    private let process: Background

    init(to port: String, refusing: Bool = false) throws {
        directory = try TemporaryDirectory()
        process = try Background(
            [python, StandIn.scripts + "/proxy.py", directory("log"), port] + (refusing ? ["--refuse"] : []))
        address = process.firstLine
        try #require(address.hasPrefix("http://"), "the proxy did not start")
    }

    /// The requests so far.
    func log() throws -> [String] {
        try directory.read("log").split(separator: "\n").map(String.init)
    }
}
