import Foundation
import TestSupport
import Testing

/// The real daemon and its own credential socket, asked as systemd asks.
@Suite(.waits, .needs(.root)) struct CredentialSocketTests {
    /// A client whose secret is for `NAME.service`.
    private func client(_ name: String) -> String {
        "  \(name): {client_id: com.example.\(name), credential: {unit: \(name).service, name: secret}}\n"
    }

    private func ask(_ sandbox: Sandbox, _ unit: String) throws -> CredentialAsker {
        try CredentialAsker(at: sandbox.directory("credentials.sock"), unit: unit)
    }

    private func expectSecret(_ asker: CredentialAsker) throws {
        let answer = try asker.answer()
        if case .secret = answer { return }
        Issue.record("no secret: \(answer)")
    }

    /// At a boot without the store the state directory serves. Without that either there is nothing to hand out.
    @Test func aUnitOfAFollowerWithNeitherStoreNorStateIsRefused() throws {
        let sandbox = try Sandbox(clients: "web")
        try sandbox.configure(
            following: sandbox, client("web"), others: "store: {endpoints: [\"https://127.0.0.1:1\"]}")
        let begun = ContinuousClock.now
        try sandbox.start()
        // It waits as long as for a first secret, which could still come.
        #expect(try ask(sandbox, "web.service").answer() == .refusal)
        #expect(.now - begun >= .seconds(19))
        #expect(try sandbox.status()["state"] as? String == "critical")
    }

    @Test func theSocketComesWithTheFirstClientThatNeedsIt() throws {
        let sandbox = try Sandbox.running("web")
        #expect(!sandbox.isThere("credentials.sock"))
        let text = try sandbox.directory.read("clientsecretd.yaml")
        try sandbox.directory.write(text + client("served"), to: "clientsecretd.yaml")
        try sandbox.succeed("reload")
        try expectSecret(ask(sandbox, "served.service"))
        sandbox.stop(SIGKILL)
        // A socket that nobody listens on is taken over.
        #expect(sandbox.isThere("credentials.sock"))
        try sandbox.start()
        try expectSecret(ask(sandbox, "served.service"))
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(try sandbox.mode(of: "credentials.sock") == 0o600)
        for _ in 0..<3 { #expect(try ask(sandbox, "other.service").answer() == .refusal) }
        #expect(sandbox.stop() == 0)
        #expect(!sandbox.isThere("credentials.sock"))
        #expect(try sandbox.log().components(separatedBy: "\nrefused ").count == 2, "each refusal is logged once")
    }

    @Test func aRequestWaitsWhileThereAreNoDescriptors() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(client("web"))
        try sandbox.start()
        try sandbox.eventually("running out of descriptors") { try self.leaveNoDescriptor(sandbox) }
        let asker = try ask(sandbox, "web.service")
        try sandbox.eventually("a word of it") { try sandbox.log().contains("credential socket: too many files") }
        try sandbox.limitDescriptors(to: 1024)
        try expectSecret(asker)
    }

    /// Takes from the daemon every descriptor that it does not have open; whether it still has none afterwards.
    private func leaveNoDescriptor(_ sandbox: Sandbox) throws -> Bool {
        func firstUnused() throws -> Int {
            let open = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(try #require(sandbox.processID))/fd")
            return (0...).first { !open.contains(String($0)) } ?? 0
        }
        let limit = try firstUnused()
        try sandbox.limitDescriptors(to: limit)
        return try firstUnused() == limit
    }
}
