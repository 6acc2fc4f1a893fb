import Foundation
import TestSupport
import Testing

/// The real daemon with an output behind an API, the real program that pushes, and a stand-in for the API.
@Suite(.waits, .needs(.venv, .tools)) struct PushingTests {
    private let sandbox: Sandbox
    private let directory: TemporaryDirectory
    private let api: Background

    init() throws {
        sandbox = try Sandbox()
        directory = try TemporaryDirectory()
        api = try Background([python, repository + "/Tests/Support/push/stand-in.py", directory.path])
        try sandbox.directory.write("token-of-the-tests\n", to: "token")
        try sandbox.configure(
            sandbox.client("web", more: "      - push: production"),
            others: """
                targets:
                  production:
                    kind: vault
                    path: apps/web
                    endpoint: \(api.firstLine)
                    ca_file: \(directory("ca.pem"))
                    token_file: \(sandbox.directory("token"))
                """)
    }

    private var whatHelps: String {
        remedy(listening: "listen \(sandbox.directory("push/production.sock")) push production")
    }

    private func output() throws -> [String: Any] {
        let outputs = try #require(try sandbox.client(named: "web")["outputs"] as? [[String: Any]])
        return try #require(outputs.first { $0["target"] as? String == "production" })
    }

    /// As in a CI job: no socket and no service, and the state of the run before or none.
    @Test func runOncePushesWithOneCommand() throws {
        let first = try sandbox.succeed("run", "--once")
        let secret = try directory.read("held")
        #expect(secret == (try sandbox.published()))
        let said = try #require(first.wholeMatch(of: #/target "production": pushed (sha256:\S+) of web, verified\n/#))
        let again = try sandbox.succeed("run", "--once")
        #expect(again == "target \"production\": keeps \(said.output.1) of web, verified\n")
        #expect(try directory.read("held") == secret)
    }

    @Test(arguments: [
        ("* status=403", "the API refuses the token:"),
        ("POST status=403", "the API accepts the token and refuses this change:"),
    ])
    func runOnceReportsWhatTheAPIRefuses(order: String, reason: String) throws {
        try directory.write(order + "\n", to: "orders")
        let refused = try sandbox.command("run", "--once")
        #expect(refused.status == 1, "\(refused.complaints)")
        let lines = refused.output.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("target \"production\": \(reason)"), "\(refused.output)")
        // The failure of a target keeps no file back.
        try sandbox.claims(of: sandbox.published())
        for hidden in ["token-of-the-tests", try sandbox.published()] {
            #expect(!(refused.output + refused.complaints).contains(hidden))
        }
    }

    /// The script in a CI system's recipe, with the key's text or file and the token as that system gives them, in a checkout
    /// to which everybody may write.
    @Test(arguments: ["github", "gitlab"]) func theRecipeForCIPushes(name: String) throws {
        let checkout = try TemporaryDirectory()
        try sandbox.permit(checkout.path, 0o777)
        try checkout.write(
            """
            keys:
              apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: apple-key}
            targets:
              production:
                kind: vault
                path: apps/web
                endpoint: \(api.firstLine)
                ca_file: \(directory("ca.pem"))
                token_credential: api-token
            clients:
              web: {client_id: com.example.web, outputs: [{push: production}]}
            """, to: "clientsecretd.yaml")
        let recipe = try String(contentsOfFile: repository + "/etc/ci/\(name).yml", encoding: .utf8)
        let script = try #require(recipe.components(separatedBy: "|\n").last).split(separator: "\n")
            .map { $0.drop { $0 == " " } }.joined(separator: "\n")
        let pushed = try runToSuccess(
            ["sh", "-ec", script],
            environment: [
                "PATH": Binaries.folder + ":/usr/bin:/bin", "API_TOKEN": "token-of-the-tests",
                "APPLE_KEY": name == "github" ? try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8") : sandbox.key,
            ], directory: checkout.path)
        #expect(pushed.hasPrefix("target \"production\": pushed sha256:"), "\(pushed)")
        try sandbox.claims(of: directory.read("held"))
    }

    @Test func withoutTheServiceTheFileIsPublishedAndTheFixIsShown() throws {
        let check = try sandbox.command("check")
        // `run --once` pushes without it.
        #expect(check.status == 0, "\(check.complaints)")
        let request = "POST \(api.firstLine)/v1/secret/data/apps/web"
        #expect(check.output.contains("would push it to target production (\(request))"), "\(check.output)")
        #expect(check.complaints.contains(whatHelps), "\(check.complaints)")
        try sandbox.start()
        try sandbox.eventually("the failed push") { try output()["state"] as? String == "failed" }
        try sandbox.claims(of: sandbox.published())
        let shown = try sandbox.command("status").output
        #expect(shown.contains(whatHelps), "\(shown)")
        #expect(try sandbox.command("health").status == 1)
        let service = try sandbox.listen(
            at: "push/production.sock", "push", "production", "--config", sandbox.configuration)
        try sandbox.succeed("renew", "web", "--deliver-only")
        #expect(try directory.read("held") == (try sandbox.published()))
        #expect(try output()["verified"] as? Bool == true)
        _ = service
    }
}
