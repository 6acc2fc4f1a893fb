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

    @Test func theExampleOfTenLinesPublishesASecret() throws {
        let readme = try text("README.md")
        let start = try #require(readme.range(of: "```yaml\n")).upperBound
        let end = try #require(readme.range(of: "```", range: start..<readme.endIndex)).lowerBound
        let example = String(readme[start..<end])
        #expect(example.split(separator: "\n").count <= 10)

        let below = readme[end...].firstMatch(of: /\n\n((?: {4}.+\n)+)/).map { String($0.output.1) }
        let commands = try #require(below).split(separator: "\n").map { line in
            line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
        }
        #expect(commands == ["clientsecretd check", "clientsecretd run"])

        let sandbox = try Sandbox()
        try sandbox.directory.write(moved(example, into: sandbox), to: "clientsecretd.yaml")
        let checked = try sandbox.command("check")
        #expect(checked.status == 0, "\(checked.complaints)")
        #expect(
            checked.output == """
                web: would mint a new secret, because there was no usable secret; \
                it would live for 90 days and be renewed 30 days before its expiry
                  would write \(sandbox.directory("out/web.jwt"))

                """)
        try sandbox.start(environment: ["STATE_DIRECTORY": sandbox.state])
        let claims = try #require(
            try sandbox.judge(sandbox.directory.read("out/web.jwt"))["claims"] as? [String: Any])
        #expect(claims["sub"] as? String == "com.example.web")
        let inspected = try sandbox.command(
            "inspect", sandbox.directory("out/web.jwt"), "--key", sandbox.key)
        #expect(inspected.status == 0)
        #expect(inspected.output.contains("signature    made by this key"))
    }

    @Test func theSampleConfigurationIsAccepted() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.write(
            moved(text("etc/clientsecretd.yaml"), into: sandbox), to: "clientsecretd.yaml")
        let once = try run(
            [sandbox.binary, "run", "--once", "--config", sandbox.directory("clientsecretd.yaml")],
            environment: ["STATE_DIRECTORY": sandbox.state])
        #expect(once.status == 0, "\(once.complaints)")
        #expect(!once.complaints.contains("warning"))
        let token = try sandbox.directory.read("out/web.jwt")
        #expect(try sandbox.directory.read("out/web.env") == "APPLE_CLIENT_SECRET=\(token)\n")
    }
}
