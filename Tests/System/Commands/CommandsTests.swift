import Foundation
import TestSupport
import Testing

/// The commands as a shell sees them: what goes to which stream, and how they exit.
@Suite(.waits) struct CommandsTests {
    private func mint(_ sandbox: Sandbox, _ more: String...) throws -> Finished {
        try run(
            [sandbox.binary, "mint", "--key", sandbox.key, "--team-id", "DEF123GHIJ", "--client-id", "com.example.web"]
                + more)
    }

    @Test func mintPrintsOneSecretAndNothingElse() throws {
        let sandbox = try Sandbox()
        let raw = try mint(sandbox, "--lifetime", "1d12h")
        #expect(raw.status == 0)
        #expect(raw.complaints.isEmpty)
        #expect(!raw.output.contains("\n"))
        let claims = try sandbox.claims(of: raw.output)
        #expect((claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0) == 60 + 129_600)

        let line = try mint(sandbox, "--format", "env", "--variable", "X").output
        #expect(line.hasPrefix("X=ey"))
        #expect(line.hasSuffix("\n"))
        #expect(try object(mint(sandbox, "--format", "json").output) is [String: String])
    }

    /// `status | head` in a unit, whose commands are started with SIGPIPE ignored, says no word too many.
    @Test func aReaderThatHasEnoughIsNothingToComplainAbout() throws {
        let sandbox = try Sandbox.running("web")
        let unread = ["timeout", "--foreground", "--signal=KILL", "5m", "/usr/bin/python3", "-c", Self.unread]
        for command in [
            ["status"], ["status", "--json"], ["status", "--watch"], ["check"],
            ["renew", "web"], ["reload"], ["mint", "web"], ["inspect", sandbox.directory("out/web.jwt")],
        ] {
            let seen = try run(unread + [sandbox.binary] + command, environment: sandbox.environment)
            #expect(seen.complaints == "", "\(command)")
            // By SIGPIPE, as others end.
            #expect(seen.output == "-13\n", "\(command)")
        }
    }

    /// As on a full disk: an answer that was lost is no success.
    @Test func anAnswerThatCannotBeWrittenFails() throws {
        let sandbox = try Sandbox(clients: "web")
        try sandbox.succeed("run", "--once")
        for command in [
            ["--version"], ["--help"], ["help", "check"], ["check", "--help"],
            ["--generate-completion-script", "bash"],
            ["check"], ["mint", "web"], ["public-key"], ["inspect", sandbox.directory("out/web.jwt")], ["doctor"],
        ] {
            let lost = try run(
                ["sh", "-c", "exec \"$0\" \"$@\" >/dev/full", sandbox.binary] + command,
                environment: sandbox.environment)
            #expect(lost.status == 1, "\(command)")
            #expect(lost.complaints.contains("cannot write to standard output: No space left"), "\(command): \(lost)")
        }
        let network = try run(["sh", "-c", "exec \"$0\" --help >/dev/full", Binaries.network])
        #expect(network.status == 1 && network.complaints.contains("cannot be written"), "\(network)")
    }

    /// Runs a program whose output nobody reads and tells its exit status.
    private static let unread = """
        import os, signal, subprocess, sys
        reader, writer = os.pipe()
        os.close(reader)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        print(subprocess.run(sys.argv[1:], stdout=writer, restore_signals=False).returncode)
        """

    @Test func mintForAConfiguredClient() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web", lifetime: "max"))
        let claims = try sandbox.claims(of: sandbox.succeed("mint", "web"))
        #expect((claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0) == 60 + 15_776_700)
        let unknown = try sandbox.command("mint", "wab")
        #expect(unknown.status == 64)
        #expect(
            unknown.complaints
                == "clientsecretd: there is no client \"wab\" in \(sandbox.configuration); "
                + "did you mean \"web\"?\n")
    }

    @Test func aReceivingClientMintsNone() throws {
        let sandbox = try Sandbox(clients: "web")
        let source = "    from: {path: \(sandbox.directory("received.jwt"))}"
        try sandbox.configure(following: sandbox, sandbox.client("web", at: sandbox.directory("out/web.jwt")) + source)
        let minted = try sandbox.command("mint", "web")
        #expect(minted.status == 64)
        #expect(minted.output == "")
        #expect(minted.complaints.contains("client \"web\" receives its secrets"), "\(minted.complaints)")
    }

    @Test func aFileToVerifyThatIsNotThereIsNoClientOnly() throws {
        let sandbox = try Sandbox(clients: "web")
        let missing = try sandbox.command("verify", ".env")
        #expect(missing.status == 64)
        #expect(missing.complaints.hasPrefix("clientsecretd: there is no file and no client \".env\" in "))
    }

    /// It has no end, and at times nothing to read.
    @Test(.needs(.root)) func anEndlessFileIsNotReadWithoutEnd() throws {
        let sandbox = try Sandbox()
        for arguments in [
            ["inspect", "/proc/kmsg"], ["verify", "/dev/zero"], ["inspect", "/dev/zero"],
        ] {
            let ended = try run(["timeout", "50", sandbox.binary] + arguments)
            #expect(ended.status == 66, "\(arguments): \(ended.complaints)")
        }
    }

    @Test func inspectJudgesByItsExitCode() throws {
        let sandbox = try Sandbox()
        let token = try mint(sandbox).output
        try sandbox.succeed("inspect", "-", input: token + "\n")
        let document = try sandbox.succeed("inspect", "-", "--json", "--key", sandbox.key, input: token)
        #expect(document.contains(#""signature_verified":true"#), "\(document)")

        // By another key; and by the public half of the right one.
        let other = sandbox.directory("keys/other.p8")
        try sandbox.makeKey(at: other)
        #expect(try sandbox.command("inspect", "-", "--key", other, input: token).status == 1)
        let published = try runToSuccess(["openssl", "pkey", "-in", sandbox.key, "-pubout"])
        let half = try sandbox.directory.write(published, to: "public.pem")
        try sandbox.succeed("inspect", "-", "--key", half, input: token)

        #expect(
            try sandbox.command("inspect", sandbox.key).complaints
                == "clientsecretd: \(sandbox.key): this is a private key, not a client secret; "
                + "to make a secret: clientsecretd mint --key ...\n")
        let malformed = try sandbox.command("inspect", "-", input: "a.b")
        #expect(malformed.status == 1)
        #expect(
            malformed.complaints
                == "clientsecretd: standard input: this is not a client secret: "
                + "it does not have three parts separated by dots\n")
        #expect(try sandbox.command("inspect", "-").status == 1)
        let variable = try sandbox.command("inspect", "-", input: "SECRET=none\nPORT=80\n").complaints
        #expect(variable.hasSuffix("; for an environment file, name the variable with --variable\n"))
        // One letter of the signature changed.
        let last = try #require(token.dropLast(20).last)
        let changed = token.dropLast(21) + (last == "A" ? "B" : "A") + token.suffix(20)
        #expect(try sandbox.command("inspect", "-", "--key", sandbox.key, input: String(changed)).status == 1)
    }

    /// Whoever reads the answer as JSON is given one for a text that is refused, too.
    @Test func checkAnswersInJSONAlsoWhereTheTextIsRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.write("clients: {web: {client: a}}\n", to: "clientsecretd.yaml")
        let check = try sandbox.command("check", "--json")
        #expect(check.status == 78)
        let answer = try object(check.output)
        #expect(answer["clients"] as? [String] == [])
        let problems = try #require(answer["problems"] as? [String])
        #expect(problems.contains { $0.contains("clientsecretd.yaml:1:17: error: unknown key") })
    }

    @Test func statusIsATableInAPipeAndADocumentOnDemand() throws {
        let sandbox = try Sandbox.running("web")
        let table = try run(
            [sandbox.binary, "status", "--socket", sandbox.socket], environment: ["LC_ALL": "C", "COLUMNS": "20"])
        #expect(table.status == 0)
        #expect(!table.output.contains("\u{1B}"))
        #expect(table.output.utf8.allSatisfy { $0 < 0x80 })
        // The first cell is behind us as soon as the secret is a second old.
        #expect(table.output.contains(/web {5}ok {5}[.#]###/))
        let document = try sandbox.succeed("status", "--json")
        #expect(document == (try sandbox.get("/v1/status")).body.trimmingCharacters(in: .newlines) + "\n")
        #expect((try sandbox.status()["clients"] as? [[String: Any]])?.first?["name"] as? String == "web")
    }

    @Test func renewalsAndReloadsSayWhatTheyCameTo() throws {
        let sandbox = try Sandbox.running("web")
        let before = try sandbox.published()
        #expect(try sandbox.succeed("renew", "web").hasPrefix("web: renewed (sha256:"))
        #expect(try sandbox.published() != before)
        let json = try sandbox.command("renew", "--due-within", "1s", "--json")
        #expect(
            json.output == #"{"outcomes":[{"client":"web","result":"untouched","fingerprint":null,"issued_at":null,"#
                + #""expires_at":null,"error":null}]}"# + "\n")
        let unknown = try sandbox.command("renew", "wob")
        #expect(unknown.status == 64)
        #expect(unknown.complaints == "clientsecretd: there is no client \"wob\" (did you mean \"web\"?)\n")

        #expect(try sandbox.command("reload").output == "The configuration is loaded.\n")
        // Named clients decide, whatever else fails.
        try sandbox.configure(
            sandbox.client("web") + "  other: {client_id: com.example.other, outputs: [{path: /nowhere/other.jwt}]}\n")
        for (words, status) in [(["reload"], 1), (["reload", "web"], 0), (["reload", "wob"], 64)] {
            #expect(try sandbox.command(words).status == Int32(status), "\(words)")
        }
        try sandbox.directory.write("clients: [", to: "clientsecretd.yaml")
        let refused = try sandbox.command("reload")
        #expect(refused.status == 78)
        #expect(refused.complaints.contains("clientsecretd.yaml:"))
        #expect(
            refused.complaints.hasSuffix(
                "clientsecretd: the configuration is refused, and the previous one stays current\n"))
    }

    /// A key that others may read, and a directory that is missing.
    @Test(.needs(.root)) func aFixCarriesOutTheLinesThatACheckPrints() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(
            "  web: {client_id: com.example.web, outputs: [{path: \(sandbox.directory("out/new/web.jwt"))}]}")
        try sandbox.permit(sandbox.key, 0o644)
        let before = try sandbox.command("check")
        #expect(before.status == 1)
        let made = try sandbox.command("check", "--fix")
        #expect(made.status == 0 && made.output.hasPrefix("web: would mint a new secret"), "\(made)")
        let lines = made.complaints.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
        #expect(lines.count == 2)
        for line in lines { #expect(before.complaints.contains(": \(line)\n"), "\(line)") }
        // There is nothing left to do.
        let again = try sandbox.command("check", "--fix")
        #expect(again.complaints == "")
        #expect(again.output.hasSuffix("\nNothing is missing.\n"))
        #expect(try !sandbox.command("check", "--json").output.contains("Nothing"))
        try sandbox.directory.write("clients:\n", to: "clientsecretd.yaml")
        #expect(try sandbox.command("check", "--fix").status == 78)
    }

    @Test func aCheckNamesWhatCouldNotWork() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(
            sandbox.client("web") + sandbox.client("lost").replacingOccurrences(of: "out/", with: "no/"))
        let before = try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory.path).sorted()
        let checked = try sandbox.command("check")
        #expect(checked.status == 1)
        #expect(checked.complaints.contains("clientsecretd.yaml:"))
        #expect(checked.complaints.contains(sandbox.directory("no/lost.jwt")))
        #expect(checked.output.contains("web: would mint a new secret"))
        #expect(!checked.output.contains("would do nothing"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory.path).sorted() == before)
        try sandbox.directory.write("no key", to: "keys/AuthKey_ABC123DEFG.p8")
        let unusable = try sandbox.command("check")
        #expect(unusable.status == 1)
        #expect(unusable.output.contains("web: would do nothing until the problem is fixed\n"))
        #expect(!unusable.output.contains("would mint") && !unusable.output.contains("would write"))
        try sandbox.directory.write("clients: {}", to: "clientsecretd.yaml")
        #expect(try sandbox.command("check").status == 78)
    }

    /// A pattern such as `*` passes file names that another user chose.
    @Test(arguments: [["init", "--from"], ["init", "--key"], ["inspect"], ["check"]])
    func aWordWithALineBreakStaysOnOneLine(command: [String]) throws {
        let answer = try run([Sandbox().binary] + command + ["/x=\nclientsecretd: run this"])
        #expect(answer.status == 64 || answer.status == 66)
        #expect(answer.complaints.contains(#"\nclientsecretd: run this"#), "\(answer)")
        #expect(!answer.complaints.contains("\nclientsecretd: run this"), "\(answer)")
    }

    /// The name of the process that asks is its own choice.
    @Test func theUserAndProcessOfARequestAreLogged() throws {
        let sandbox = try Sandbox.running("web", "app")
        func requests() throws -> [String] {
            try sandbox.log().split(separator: "\n").map(String.init).filter { $0.contains(" asked to ") }
        }
        try sandbox.succeed("renew", "web", "app")
        let user = geteuid()
        let renewal = try #require(try requests().first)
        let words = #/user (\d+) \(process \d+, "clientsecretd"\) asked to renew app, web/#
        #expect(renewal.wholeMatch(of: words)?.1 == "\(user)")
        try sandbox.succeed("renew", "--deliver-only")
        #expect(try requests().last?.hasSuffix(" asked to deliver again all clients") == true)
        let asked = try run(["/usr/bin/python3", "-c", Self.renamed, sandbox.socket])
        #expect(asked.output.hasPrefix("HTTP/1.1 200 OK"), "\(asked)")
        let reload = try #require(try requests().last)
        #expect(reload.contains("[2Jevil"), "\(reload)")
        #expect(reload.hasSuffix(" asked to reload the configuration"))
        #expect(!reload.utf8.contains(0x1B))
        #expect(try requests().count == 3)
    }

    private static let renamed = """
        import socket, sys
        with open('/proc/self/comm', 'wb') as name: name.write(b'\\x1b[2Jevil')
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        client.sendall(b'POST /v1/reload HTTP/1.1\\r\\nHost: h\\r\\nConnection: close\\r\\n\\r\\n')
        while data := client.recv(65536): print(data.decode())
        """
}
