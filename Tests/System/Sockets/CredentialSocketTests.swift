import Foundation
import TestSupport
import Testing

/// The real daemon and its own credential socket, asked as systemd asks.
@Suite(.waits, .needs(.root)) struct CredentialSocketTests {
    /// A client whose secret is for `NAME.service`.
    private func client(_ name: String) -> String {
        "  \(name): {client_id: com.example.\(name), credential: {unit: \(name).service, name: secret}}\n"
    }

    private func socket(_ sandbox: Sandbox) -> String { sandbox.directory("credentials.sock") }

    private func ask(_ sandbox: Sandbox, _ unit: String) throws -> CredentialAsker {
        try CredentialAsker(at: socket(sandbox), unit: unit)
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// At a boot without the store the state directory serves. Without that either there is nothing to hand out.
    @Test func aUnitOfAFollowerWithNeitherStoreNorStateIsRefused() throws {
        let sandbox = try Sandbox()
        let key = try run([
            "openssl", "pkey", "-in", sandbox.key, "-pubout", "-outform", "DER", "-out", sandbox.directory("key.der"),
        ])
        try #require(key.status == 0, "\(key.complaints)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sandbox.directory("key.der")))
        try sandbox.directory.write(
            """
            keys:
              apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, public_key: \(bytes.base64EncodedString())}
            state_dir: \(sandbox.state)
            store: {endpoints: ["https://127.0.0.1:1"]}
            clients:
            \(client("web"))
            """, to: "clientsecretd.yaml")
        let begun = ContinuousClock.now
        try sandbox.start()
        // It waits as long as for a first secret, which could still come.
        #expect(try ask(sandbox, "web.service").answer() == .refusal)
        #expect(.now - begun >= .seconds(19))
        #expect(try sandbox.status()["state"] as? String == "critical")
    }

    @Test func theSocketComesWithTheFirstClientThatNeedsIt() throws {
        let sandbox = try Sandbox.running("web")
        #expect(!isThere(socket(sandbox)))
        let text = try sandbox.directory.read("clientsecretd.yaml")
        try sandbox.directory.write(text + client("served"), to: "clientsecretd.yaml")
        #expect(try sandbox.command("reload").status == 0)
        guard case .secret = try ask(sandbox, "served.service").answer() else {
            Issue.record("served got nothing")
            return
        }
        sandbox.stop(SIGKILL)
        // A socket that nobody listens on is taken over.
        #expect(isThere(socket(sandbox)))
        try sandbox.start()
        guard case .secret = try ask(sandbox, "served.service").answer() else {
            Issue.record("served got nothing")
            return
        }
        #expect(try sandbox.status()["state"] as? String == "ok")
        let mode = try FileManager.default.attributesOfItem(atPath: socket(sandbox))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        for _ in 0..<3 { #expect(try ask(sandbox, "other.service").answer() == .refusal) }
        #expect(sandbox.stop() == 0)
        #expect(!isThere(socket(sandbox)))
        #expect(try sandbox.log().components(separatedBy: "\nrefused ").count == 2, "each refusal is logged once")
    }

    @Test func aRequestWaitsWhileThereAreNoDescriptors() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(client("web"))
        try sandbox.start()
        try sandbox.eventually("running out of descriptors") { try self.leaveNoDescriptor(sandbox) }
        let asker = try ask(sandbox, "web.service")
        try sandbox.eventually("a word of it") { try sandbox.log().contains("credential socket: too many files") }
        try limitDescriptors(of: sandbox, to: 1024)
        guard case .secret = try asker.answer() else {
            Issue.record("web got nothing")
            return
        }
    }

    /// Takes from the daemon every descriptor that it does not have open; whether it still has none afterwards.
    private func leaveNoDescriptor(_ sandbox: Sandbox) throws -> Bool {
        func firstUnused() throws -> Int {
            let open = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(try #require(sandbox.processID))/fd")
            return (0...).first { !open.contains(String($0)) } ?? 0
        }
        let limit = try firstUnused()
        try limitDescriptors(of: sandbox, to: limit)
        return try firstUnused() == limit
    }

    private func limitDescriptors(of sandbox: Sandbox, to limit: Int) throws {
        let limited = try run(["prlimit", "--pid", "\(try #require(sandbox.processID))", "--nofile=\(limit):"])
        try #require(limited.status == 0, "\(limited.complaints)")
    }
}
