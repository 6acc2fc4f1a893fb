import Foundation
import TestSupport
import Testing

/// The real daemon with `verify: true`, the real program that asks, and a stand-in for Apple.
@Suite(.waits, .needs(.venv)) struct VerificationTests {
    private let sandbox: Sandbox
    /// It knows the clients `web` and `api` and their key.
    private let apple: StandIn

    init() throws {
        sandbox = try Sandbox()
        let publicHalf = sandbox.directory("key.pub")
        try runToSuccess(["openssl", "pkey", "-in", sandbox.key, "-pubout", "-out", publicHalf])
        let names = ["web", "api"]
        apple = try StandIn(
            keys: ["ABC123DEFG:DEF123GHIJ:\(publicHalf)"], clients: names.map { "com.example.\($0):DEF123GHIJ" })
        try sandbox.configure(names.map { [sandbox] in sandbox.client($0, more: "    verify: true") }.joined())
    }

    private var whatHelps: String {
        remedy(listening: "listen \(sandbox.directory("verify.sock")) verify")
    }

    @Test func withoutTheServiceTheOldSecretStaysAndTheFixIsShown() throws {
        try sandbox.start()
        let first = try sandbox.published()
        try sandbox.awaitVerdict("unknown", on: "web")
        let shown = try sandbox.command("status").output
        #expect(shown.contains(whatHelps), "\(shown)")
        #expect(try sandbox.command("health").status == 1)
        sandbox.awaitNextSecond()
        #expect(try sandbox.command("renew", "web").status == 1)
        #expect(try sandbox.published() == first)

        let service = try apple.serve(sandbox)
        try sandbox.eventually("the publication", within: 300) { try sandbox.published() != first }
        for name in ["web", "api"] { try sandbox.awaitVerdict("accepted", on: name) }
        try sandbox.succeed("health")
        withExtendedLifetime(service) {}
    }

    /// The daemon serves its clients without it, so that a check does not fail.
    @Test func aCheckWarnsOfAServiceThatIsNotThere() throws {
        let checked = try sandbox.command("check")
        #expect(checked.status == 0, "\(checked.complaints)")
        let warnings = checked.complaints.split(separator: "\n")
        #expect(warnings.count == 2, "\(checked.complaints)")
        for (name, warning) in zip(["api", "web"], warnings) {
            #expect(
                warning.contains(#/clientsecretd\.yaml:[0-9]+:[0-9]+: warning: client /#)
                    && warning.contains(#"client "\#(name)": the service that asks Apple about new secrets cannot be"#)
                    && warning.contains(sandbox.directory("verify.sock"))
                    && warning.hasSuffix(whatHelps), "\(warning)")
        }
        let service = try apple.serve(sandbox)
        #expect(try sandbox.command("check").complaints == "")
        #expect(try apple.log() == [])
        withExtendedLifetime(service) {}
    }

    /// The daemon asks over a Unix socket, whatever the service does.
    @Test func theDaemonOpensNoNetworkConnection() throws {
        let trace = sandbox.directory("trace")
        let service = try apple.serve(sandbox)
        try sandbox.start(under: ["strace", "-D", "-f", "-qq", "-o", trace, "-e", "trace=%network"])
        for name in ["web", "api"] { try sandbox.awaitVerdict("accepted", on: name) }
        sandbox.awaitNextSecond()
        try sandbox.succeed("renew")
        withExtendedLifetime(service) { _ = sandbox.stop() }
        let calls = try sandbox.directory.read("trace").split(separator: "\n")
        #expect(calls.contains { $0.contains("connect(") && $0.contains("verify.sock") })
        #expect(calls.filter { $0.contains("socket(") && !$0.contains("socket(AF_UNIX") } == [])
        #expect(calls.filter { $0.contains("AF_INET") || $0.contains("AF_NETLINK") } == [])
    }
}
