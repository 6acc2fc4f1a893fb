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

    /// The commands under "How to look at it", on a daemon of the test's own. Those that need Apple are the guide's to a
    /// sign-in, whose commands are compared with a run.
    @Test func theCommandsThatLookAtItWork() throws {
        let section = try #require(
            try text("README.md").firstMatch(of: /## How to look at it\n\n((?: {4}.+\n)+)/)?.output.1)
        let commands = section.split(separator: "\n").map { line in
            String(line.prefix { $0 != "#" }).trimmingCharacters(in: .whitespaces)
        }
        #expect(commands.count == 13)
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        try FileManager.default.createSymbolicLink(
            atPath: sandbox.directory("clientsecretd"), withDestinationPath: sandbox.binary)
        let signingIn = try text("docs/signing-in.md")
        for command in commands {
            let name = command.split(separator: " ")[1]
            if ["verify", "exchange", "id-token", "refresh", "revoke"].contains(name) {
                #expect(signingIn.contains("\n$ clientsecretd \(name) web"), "\(command)")
                continue
            }
            let here = command.replacing("FILE", with: sandbox.directory("out/web.jwt"))
                .replacing("/run/clientsecretd/clientsecretd.sock", with: sandbox.socket)
            let done = try run(
                ["timeout", "5m", "sh", "-c", here],
                environment: sandbox.environment.merging(["PATH": sandbox.directory.path + ":/usr/bin:/bin"]) { $1 })
            #expect(done.status == 0 && !done.output.isEmpty, "\(command): \(done.complaints)")
        }
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

    /// The picture is made anew and compared, but for times, fingerprints and what follows from them.
    @Test func thePictureShowsWhatTheProgramShows() throws {
        let directory = try TemporaryDirectory()
        let binary = try Sandbox().binary
        let made = try run([repository + "/scripts/picture", binary, directory("picture.svg")])
        try #require(made.status == 0, "\(made.complaints)")
        let shown = lasting(try directory.read("picture.svg"))
        #expect(shown.contains("# clientsecretd status"))
        #expect(
            lasting(try text("docs/picture.svg")) == shown, "make it anew: scripts/picture \(binary) docs/picture.svg")
    }

    private func lasting(_ picture: String) -> String {
        picture.replacing(#/<[^>]*>/#, with: "").replacing(#/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/#, with: "TIME")
            .replacing(#/sha256:[0-9a-f]{16}/#, with: "FINGERPRINT")
            // A second after it was minted a secret has a day less in words.
            .replacing(#/[0-9]+ days/#, with: "DAYS").replacing(#/[░█│]+/#, with: "BAR")
            .replacing(#/now|[0-9]+ (?:second|minute)s? ago/#, with: "SOON")
    }

    /// Of what lasts too long for a test, at least the recipes are there and make knows how all that they need is made.
    @Test(arguments: ["sanitize", "coverage", "docc", "fuzz", "bench", "demo-signin"])
    func longCommandsAreRules(_ target: String) throws {
        let binary = try Sandbox().binary
        let made = try run(["make", "--silent", "--dry-run", "-C", repository, target, "binary=\(binary)"])
        #expect(made.status == 0 && !made.output.isEmpty, "\(made.complaints)")
    }

    @Test func theTwoCommandsAreThere() throws {
        let makefile = try text("Makefile")
        let readme = try text("README.md")
        for target in ["run", "test"] {
            #expect(readme.contains("make \(target) "))
            #expect(makefile.contains("\n\(target): "))
        }
    }
}
