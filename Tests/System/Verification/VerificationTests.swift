import Foundation
import TestSupport
import Testing

/// The real daemon with `verify: true`, the real program that asks, and a stand-in for Apple.
@Suite(.waits, .needs(.venv)) struct VerificationTests {
    private let verifying: VerifyingSandbox
    private var sandbox: Sandbox { verifying.sandbox }
    private var apple: StandIn { verifying.apple }

    init() throws {
        verifying = try VerifyingSandbox()
    }

    private var whatHelps: String {
        remedy(listening: "listen \(sandbox.directory("verify.sock")) verify")
    }

    @Test func withoutTheServiceTheOldSecretStaysAndTheFixIsShown() throws {
        try sandbox.start()
        let first = try verifying.published("web")
        try verifying.awaitVerdict("unknown", on: "web")
        let shown = try sandbox.command("status").output
        #expect(shown.contains(whatHelps), "\(shown)")
        #expect(try sandbox.command("health").status == 1)
        sandbox.awaitNextSecond()
        #expect(try sandbox.command("renew", "web").status == 1)
        #expect(try verifying.published("web") == first)

        try verifying.serve()
        try sandbox.eventually("the publication", within: 300) { try verifying.published("web") != first }
        for name in ["web", "api"] { try verifying.awaitVerdict("accepted", on: name) }
        #expect(try sandbox.command("health").status == 0)
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
        try verifying.serve()
        #expect(try sandbox.command("check").complaints == "")
        #expect(try verifying.requests() == 0)
    }

    /// The daemon asks over a Unix socket, whatever the service does.
    @Test func theDaemonOpensNoNetworkConnection() throws {
        let trace = sandbox.directory("trace")
        try verifying.settle(under: ["strace", "-D", "-f", "-qq", "-o", trace, "-e", "trace=%network"])
        #expect(try sandbox.command("renew").status == 0)
        sandbox.stop()
        let calls = try sandbox.directory.read("trace").split(separator: "\n")
        #expect(calls.contains { $0.contains("connect(") && $0.contains("verify.sock") })
        #expect(calls.filter { $0.contains("socket(") && !$0.contains("socket(AF_UNIX") } == [])
        #expect(calls.filter { $0.contains("AF_INET") || $0.contains("AF_NETLINK") } == [])
    }
}
