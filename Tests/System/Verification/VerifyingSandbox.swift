import Foundation
import TestSupport
import Testing

/// A sandbox with what a daemon with `verify: true` needs: the program that asks, and a stand-in for Apple that knows the
/// clients `web` and `api` and their key.
final class VerifyingSandbox {
    let sandbox: Sandbox
    let apple: StandIn
    private var service: Background?

    init() throws {
        sandbox = try Sandbox()
        let publicHalf = sandbox.directory("key.pub")
        let made = try run(["openssl", "pkey", "-in", sandbox.key, "-pubout", "-out", publicHalf])
        try #require(made.status == 0, "\(made.complaints)")
        apple = try StandIn(
            keys: ["ABC123DEFG:DEF123GHIJ:\(publicHalf)"],
            clients: ["web", "api"].map { "com.example.\($0):DEF123GHIJ" })
        try sandbox.configure(
            sandbox.client("web", more: "    verify: true") + sandbox.client("api", more: "    verify: true"))
    }

    /// Starts to listen for the daemon, beside its status socket.
    func serve() throws { service = try apple.serve(sandbox) }

    /// Starts the service and the daemon, and waits until Apple has accepted both clients' first secrets.
    func settle(under wrapper: [String] = []) throws {
        try serve()
        try sandbox.start(under: wrapper)
        for name in ["web", "api"] { try awaitVerdict("accepted", on: name) }
        sandbox.awaitNextSecond()
    }

    /// How many requests the stand-in got.
    func requests() throws -> Int { try apple.log().count }

    func published(_ name: String) throws -> String { try sandbox.directory.read("out/\(name).jwt") }

    /// What the status says of Apple's last verdict on a client's secret; nil where Apple was not asked.
    func verification(_ name: String) throws -> [String: Any]? {
        try sandbox.client(named: name)["verification"] as? [String: Any]
    }

    func awaitVerdict(_ verdict: String, on name: String) throws {
        try sandbox.eventually("the verdict \(verdict)") { try verification(name)?["verdict"] as? String == verdict }
    }
}

extension StandIn {
    /// Has the program that asks listen for a sandbox's daemon, and ask this.
    func serve(_ sandbox: Sandbox) throws -> Background {
        let service = try Background([
            "/usr/bin/python3", repository + "/Tests/Support/accept.py", sandbox.directory("verify.sock"),
            Binaries.network, "verify", "--endpoint", address, "--ca-file", authority,
        ])
        try #require(service.firstLine == "listening")
        return service
    }
}
