import Foundation
import TestSupport
import Testing

/// `init` at a terminal: what it asks, shows and writes.
@Suite(.waits, .needs(.tools)) struct InitTests {
    private func console(_ sandbox: Sandbox, _ flags: String = "") throws -> Console {
        try Console(
            columns: 120, rows: 60,
            """
            \(sandbox.binary) init --config \(sandbox.configuration) \(flags)
            echo "ended with $?"
            exec sleep 600
            """)
    }

    private func type(_ line: String, at question: String, in console: Console) throws {
        try console.wait(for: question) { $0.last?.hasPrefix(question) == true }
        try console.type(line)
        try console.press("Enter")
    }

    /// Answers all but the last question.
    private func answer(_ sandbox: Sandbox, in console: Console) throws {
        try type("/nowhere/key.p8", at: "The key file", in: console)
        try console.wait(for: "there is no such file")
        try type(sandbox.key, at: "The key file", in: console)
        try type("DEF123GHIJ", at: "The team's id", in: console)
        try type("com.example.web", at: "The Services ID", in: console)
        try type("4", at: "Choose one [1]:", in: console)
        try type("", at: "The group that reads it", in: console)
        try type(sandbox.directory("out/web.jwt"), at: "The file [/run/clientsecretd/out/web.jwt]:", in: console)
        try type("", at: "The unit that reads it", in: console)
    }

    @Test func answersAndFlagsWriteTheSameFileWhichCheckAccepts() throws {
        let sandbox = try Sandbox()
        let refusing = try console(sandbox)
        try answer(sandbox, in: refusing)
        try type("no", at: "Write this? (yes or no):", in: refusing)
        try refusing.wait(for: "ended with 1")
        let console = try console(sandbox)
        try answer(sandbox, in: console)
        try console.wait(for: "clientsecretd.yaml would hold:")
        try type("perhaps", at: "Write this? (yes or no):", in: console)
        try console.wait(for: "answer yes or no")
        #expect(!sandbox.isThere("clientsecretd.yaml"))
        try type("yes", at: "Write this? (yes or no):", in: console)
        let screen = try console.wait(for: "ended with 0")
        let verdict = try #require(screen.firstIndex(of: "Nothing is missing."))
        #expect(screen[verdict + 1] == "Next:")
        #expect(screen[verdict + 2].hasPrefix("  start its daemon: clientsecretd run --config "))
        #expect(!screen.contains { $0.hasPrefix("Something is missing") })
        try sandbox.succeed("check")
        let flags = try sandbox.command(
            ["init", "--config", "-"] + ids(sandbox) + ["--output", sandbox.directory("out/web.jwt")])
        #expect(try sandbox.directory.read("clientsecretd.yaml") == flags.output)
        #expect(sandbox.leftovers().isEmpty)
    }

    /// Neither into a file nor to standard output: what is no client's id, and an output that leads to the key.
    @Test(arguments: [
        ("-", "DEF123GHIJ", "out/web.jwt"), ("clientsecretd.yaml", "DEF123GHIJ", "out/web.jwt"),
        ("clientsecretd.yaml", "com.example.web", "keys/AuthKey_ABC123DEFG.p8"),
    ])
    func nothingIsWrittenThatIsRefused(to file: String, client: String, output: String) throws {
        let sandbox = try Sandbox()
        let refused = try sandbox.command(
            "init", "--config", file == "-" ? file : sandbox.directory(file), "--key", sandbox.key, "--team-id",
            "DEF123GHIJ", "--client-id", client, "--output", sandbox.directory(output), "--yes")
        #expect(refused.status == 78, "\(refused.complaints)")
        #expect(refused.output == "")
        // Of text that was never written no line helps.
        let subject = client == "com.example.web" ? sandbox.directory(output) : "client id \(client) "
        #expect(refused.complaints.hasPrefix(subject), "\(refused.complaints)")
        #expect(!sandbox.isThere("clientsecretd.yaml"))
    }

    /// The flags that name the key and the client.
    private func ids(_ sandbox: Sandbox) -> [String] {
        ["--key", sandbox.key, "--team-id", "DEF123GHIJ", "--client-id", "com.example.web"]
    }

    // MARK: From a file with a secret

    /// A `.env` whose secret has expired.
    private func expire(_ sandbox: Sandbox) throws {
        let secret = try sandbox.sign(
            """
            {"iss": "DEF123GHIJ", "sub": "com.example.web", "aud": "https://appleid.apple.com", "iat": -9000, "exp": -600}
            """)
        try sandbox.directory.write("PORT=80\nAUTH_APPLE_SECRET=\(secret)\n", to: ".env")
    }

    /// The secret works, so the key is the wrong one, or the secret is of no use.
    @Test func aWorkingSecretOfAnotherKeyWithTheSameIDIsNotReplaced() throws {
        let sandbox = try Sandbox()
        let text = "PORT=80\nAUTH_APPLE_SECRET=\(try sandbox.command(["mint"] + ids(sandbox)).output)\n"
        let file = try sandbox.directory.write(text, to: ".env")
        try sandbox.directory.folder("other", mode: 0o700)
        let other = sandbox.directory("other/AuthKey_ABC123DEFG.p8")
        try sandbox.makeKey(at: other)
        for place in [["--from", file], Array(ids(sandbox).dropFirst(2)) + ["--output", file, "--format", "env"]] {
            let refused = try sandbox.command(
                ["init", "--yes"] + place + ["--variable", "AUTH_APPLE_SECRET", "--key", other])
            #expect(refused.status == 1)
            #expect(refused.complaints.contains(" is another key: Apple knows only one of the two by this id."))
            #expect(try sandbox.directory.read(".env") == text)
            #expect(!sandbox.isThere("clientsecretd.yaml"))
        }
        let printed = try sandbox.command(
            "init", "--config", "-", "--from", file, "--variable", "AUTH_APPLE_SECRET", "--key", other)
        #expect(printed.status == 1 && printed.output == "" && printed.complaints.contains(" is another key: "))
        try sandbox.succeed("init", "--yes", "--from", file, "--key", sandbox.key)
    }

    /// Nothing but the key and what to restart, and the daemon then renews that variable.
    @Test func anExpiredSecretLeavesTwoQuestions() throws {
        let sandbox = try Sandbox()
        try expire(sandbox)
        let file = sandbox.directory(".env")
        let console = try console(sandbox, "--from \(file)")
        try type(sandbox.key, at: "The key file", in: console)
        try type("", at: "The unit that reads it", in: console)
        try type("yes", at: "Write this? (yes or no):", in: console)
        try console.wait(for: "ended with 0")
        let flags = try sandbox.command(
            ["init", "--config", "-"] + ids(sandbox)
                + ["--output", file, "--format", "env", "--variable", "AUTH_APPLE_SECRET"])
        #expect(try sandbox.directory.read("clientsecretd.yaml") == flags.output)
        try sandbox.directory.write("state_dir: \(sandbox.state)\n" + flags.output, to: "clientsecretd.yaml")
        try sandbox.succeed("run", "--once")
        try sandbox.succeed("inspect", file, "--variable", "AUTH_APPLE_SECRET", "--key", sandbox.key)
        #expect(try sandbox.directory.read(".env").hasPrefix("PORT=80\n"))
    }

    /// A program that reads a variable does not read the file that the preset is about.
    @Test func aPresetIsNotUsedWhereTheSecretIsReadInAnotherWay() throws {
        let sandbox = try Sandbox()
        try expire(sandbox)
        func made(_ app: String, _ more: String...) throws -> Finished {
            try sandbox.command(
                ["init", "--from", sandbox.directory(".env"), "--key", sandbox.key, "--app", app] + more)
        }
        let proxy = try made("oauth2-proxy")
        #expect(proxy.status == 0, "\(proxy)")
        #expect(proxy.complaints.contains("oauth2-proxy: --app is not used: it is about a file with format: raw, and"))
        #expect(!proxy.complaints.contains("client-secret-file"))
        // The preset's program needs no restart.
        let step = "start the application again now and after each renewal, because nothing else does"
        #expect(proxy.output.contains(step))
        #expect(proxy.complaints.contains("format: env"))
        let laravel = try made("laravel", "--config", "-")
        #expect(laravel.complaints == "")
        #expect(laravel.output.contains("format: env"))
    }

    // MARK: Targets

    @Test func aTokenIsTypedUnseenIntoAFileThatOnlyItsOwnerReads() throws {
        let sandbox = try Sandbox()
        let console = try console(sandbox, (ids(sandbox) + ["--push", "supabase"]).joined(separator: " "))
        try type("abcdefghijklmnopqrst", at: "project (the project's reference", in: console)
        try type("hidden-token", at: "The API's token (hidden):", in: console)
        try console.wait(for: "production-token would hold:")
        #expect(!sandbox.isThere("production-token"))
        try type("yes", at: "Write this? (yes or no):", in: console)
        let screen = try console.wait(for: "ended with 0").joined()
        #expect(!screen.contains("hidden-token"))
        #expect(try sandbox.directory.read("production-token") == "hidden-token\n")
        #expect(try sandbox.mode(of: "production-token") == 0o600)
    }

    @Test func aSecondClientIsADropInFile() throws {
        let sandbox = try Sandbox(clients: "web")
        let before = try sandbox.directory.read("clientsecretd.yaml")
        let shop = [
            "init", "--name", "shop", "--client-id", "com.example.shop", "--output", sandbox.directory("out/shop.jwt"),
        ]
        let made = try sandbox.command(shop)
        #expect(made.status == 0, "\(made.complaints)")
        #expect(made.complaints.contains("clientsecretd.d/shop.yaml would hold:"))
        #expect(
            made.output.contains(
                "\nNothing is missing.\nNext:\n  load it into its daemon: clientsecretd reload --socket \(sandbox.socket)\n"
            ))
        #expect(try sandbox.directory.read("clientsecretd.yaml") == before)
        let again = try sandbox.command(shop)
        #expect(again.status == 1)
        #expect(again.complaints.contains("choose another --name"))
    }

    /// Not after all the questions.
    @Test func aConfigurationThatExistsIsReportedAtOnce() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.write("mine\n", to: "clientsecretd.yaml")
        let screen = try console(sandbox).wait(for: "ended with 1").joined()
        #expect(screen.contains("already exists and was not changed"))
        #expect(try sandbox.directory.read("clientsecretd.yaml") == "mine\n")
    }

    /// The service reads one place alone, which this is not.
    @Test func nothingElseThanTheServiceIsStartedNow() throws {
        let sandbox = try Sandbox()
        let made = try sandbox.command(
            ["init", "--now"] + ids(sandbox) + ["--output", sandbox.directory("out/web.jwt")])
        #expect(made.status == 64)
        #expect(made.complaints.contains("which reads /etc/clientsecretd/clientsecretd.yaml; leave out --now"))
        #expect(!sandbox.isThere("clientsecretd.yaml"))
        let written = try sandbox.command(["init"] + ids(sandbox) + ["--output", sandbox.directory("out/web.jwt")])
        #expect(
            written.output.contains(
                "\n  start its daemon: clientsecretd run --config \(sandbox.configuration) --socket \(sandbox.socket)\n"
            ))
        #expect(!written.output.contains("systemctl"), "\(written.output)")
    }

    /// The daemon would fail with everything written.
    @Test(.needs(.root)) func aDirectoryIsRefusedThatTheFilesUserCannotWriteTo() throws {
        let sandbox = try Sandbox()
        try sandbox.permit(sandbox.directory("out"), 0o755)
        let made = try sandbox.command(
            ["init"] + ids(sandbox) + ["--output", sandbox.directory("out/web.jwt"), "--as", "nobody"])
        #expect(made.status == 1)
        #expect(
            made.complaints
                == "clientsecretd: user \"nobody\" cannot write to \(sandbox.directory("out")) (owner: root). "
                + "Use --output with another directory; nothing was written.\n")
        #expect(!sandbox.isThere("clientsecretd.yaml"))
    }

    /// A public key, say, or the file with the secret; a damaged key comes with the command that mends it.
    @Test func nothingIsWrittenForAFileThatIsNoKey() throws {
        let sandbox = try Sandbox()
        let path = sandbox.directory("AuthKey_ABC123DEFH.p8")
        let key = try String(contentsOfFile: sandbox.key, encoding: .utf8)
        let advice = "; name Apple's key file with --key; nothing was written\n"
        for (text, start, end) in [
            ("SECRET=abc\n", "not a PEM file", advice),
            (
                try runToSuccess(["openssl", "pkey", "-in", sandbox.key, "-pubout"]),
                "a public key, not the private one", advice
            ),
            (
                key.replacingOccurrences(of: "-----END PRIVATE KEY-----", with: ""),
                "the private key cannot be decoded: its END line is missing; write it again from a copy; once the key works, "
                    + "remove \(path).damaged, which holds it too: test ! -e ", " && mv \(path).new \(path)\n"
            ),
        ] {
            try sandbox.directory.write(text, to: "AuthKey_ABC123DEFH.p8")
            let made = try sandbox.command(
                "init", "--key", path, "--team-id", "DEF123GHIJ", "--client-id", "com.example.web", "--output",
                sandbox.directory("out/web.jwt"))
            #expect(made.status == 1)
            #expect(made.complaints.hasPrefix("clientsecretd: \(path): \(start)"), "\(made.complaints)")
            #expect(made.complaints.hasSuffix(end), "\(made.complaints)")
            #expect(!sandbox.isThere("clientsecretd.yaml"))
        }
    }
}
