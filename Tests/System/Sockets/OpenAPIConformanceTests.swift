import Foundation
import TestSupport
import Testing

/// The running daemon against the published description of its API, by schemathesis: requests of all kinds that the
/// description allows or forbids, and chains of them. Takes a quarter of a minute.
@Suite(.waits, .needs(.venv, .night)) struct OpenAPIConformanceTests {
    @Test func everyAnswerIsAsDescribed() throws {
        let sandbox = try Sandbox.running("web", "native")
        // It writes what it has learned beside where it runs.
        let scratch = try TemporaryDirectory()
        let seed = SeededGenerator().seed % (1 << 32)
        let asked = try run(
            [
                "timeout", "300", python, repository + "/Tests/Support/http-bridge.py", sandbox.socket,
                python, "-m", "schemathesis.cli", "run", repository + "/docs/openapi.yaml", "--url", "{url}",
                "--seed", "\(seed)", "--max-examples", "40", "--checks", "all", "--continue-on-failure",
            ], environment: ["NO_COLOR": "1"], directory: scratch.path)
        #expect(
            asked.status == 0,
            "again with CLIENTSECRETD_SEED=\(seed)\n\(asked.output.suffix(10_000))\(asked.complaints.suffix(2_000))")
        #expect(asked.output.contains("Tested: 11"))
        // The connection was accepted, and delayed the others no more than any other.
        let clients = try #require(try sandbox.status()["clients"] as? [[String: Any]])
        #expect(clients.allSatisfy { ($0["renewals"] as? Int ?? 0) > 1 })
        try sandbox.eventually("peace") { try sandbox.status()["state"] as? String == "ok" }
        try sandbox.claims(of: sandbox.published())
    }
}
