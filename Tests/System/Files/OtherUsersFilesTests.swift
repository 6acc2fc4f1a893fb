import Foundation
import TestSupport
import Testing

/// Files of other users, written by a writer that runs as that user.
@Suite(.waits, .needs(.root)) struct OtherUsersFilesTests {
    private static let user = UserWriterHost.user
    private static let text = "# mine\r\nPORT=80\r\n"

    /// A file of the other user's in a directory of its own, and the clients that set its variables.
    private func sandbox(_ clients: (String, Sandbox) -> String) throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.makeDirectory("app", of: Self.user)
        try sandbox.write(Self.text, to: "app/.env", of: Self.user)
        try sandbox.configureForWriters(clients(sandbox.directory("app/.env"), sandbox))
        return sandbox
    }

    @Test func rootStartsTheWritersItself() throws {
        let sandbox = try sandbox { path, sandbox in
            sandbox.client("web", variable: "WEB", of: path) + sandbox.client("api", variable: "API", of: path)
        }
        try sandbox.start()
        let web = try #require(try sandbox.variable("WEB", of: "app/.env"))
        let api = try #require(try sandbox.variable("API", of: "app/.env"))
        try sandbox.claims(of: web)
        try sandbox.claims(of: api)
        #expect(web != api)
        #expect(try sandbox.directory.read("app/.env") == Self.text + "API=\(api)\r\nWEB=\(web)\r\n")
        #expect(try sandbox.owner(of: "app/.env") == [23_456, 23_456])
        // One write for both, and nobody is left behind.
        #expect(try sandbox.log().components(separatedBy: "\nwrote ").count == 2)
        #expect(try run(["pgrep", "-f", sandbox.configuration + "$"]).status == 1)

        // Damage is noticed and fixed, and a deleted file is not made anew.
        try sandbox.write("PORT=8080\nWEB=gone\n", to: "app/new", of: Self.user)
        try sandbox.move("app/new", to: "app/.env")
        try sandbox.eventually("the repair") {
            try sandbox.directory.read("app/.env") == "PORT=8080\nWEB=\(web)\nAPI=\(api)\n"
        }
        try sandbox.remove("app/.env")
        try sandbox.eventually("saying that it is gone") { try sandbox.outputs(of: "web").map(\.state) == ["failed"] }
        #expect(!sandbox.isThere("app/.env"))
        try sandbox.expectNoLeftovers()
    }

    @Test func onceAndCheckGoByTheWriterToo() throws {
        let sandbox = try sandbox { path, sandbox in
            sandbox.client("web", variable: "WEB", of: path)
                + "      - {path: \(sandbox.directory("app/new.json")), format: json, as: \(Self.user), mode: 640}\n"
        }
        let foreseen = try sandbox.command("check")
        #expect(foreseen.output.contains("would mint a new secret"))
        #expect(try sandbox.directory.read("app/.env") == Self.text)
        try sandbox.succeed("run", "--once")
        #expect(try sandbox.owner(of: "app/new.json") == [23_456, 23_456])
        let kept = try sandbox.command("check")
        #expect(kept.output.contains("would keep") && !kept.output.contains("would write"), "\(kept.complaints)")

        // What only that user's writer can find out.
        try sandbox.write("A=1\n", to: "app/.env", of: Self.user)
        try sandbox.give("app/.env", to: Self.user, group: 0)
        #expect(try sandbox.command("check").complaints.contains("may not give files to this group"))
        try sandbox.permit(sandbox.configuration, 0o600)
        let blind = try sandbox.command("check")
        let file = sandbox.configuration
        #expect(blind.status == 1 && blind.complaints.contains("user \(Self.user) may not read \(file)"), "\(blind)")
        // A template in it may hold a password.
        #expect(!blind.complaints.contains("chmod"))
    }

    @Test func aFileThatHoldsSomethingElseIsNotOverwrittenByAWriter() throws {
        let sandbox = try Sandbox()
        try sandbox.makeDirectory("app", of: Self.user)
        let path = try sandbox.write("PORT=80\nDATABASE_URL=x\n", to: "app/secret", of: Self.user)
        try sandbox.configureForWriters(sandbox.client("web", at: path) + "        as: \(Self.user)\n")
        let text = try sandbox.directory.read("app/secret")
        let foreseen = try sandbox.command("check")
        #expect(foreseen.status == 1 && foreseen.complaints.contains("the file holds other content"), "\(foreseen)")
        try sandbox.start()
        let output = try #require(try sandbox.outputs(of: "web").first)
        #expect(output.state == "failed")
        let client = try sandbox.client(named: "web")
        let failure = try #require(client["failure"] as? [String: Any])
        #expect(failure["code"] as? String == "output_foreign", "\(failure)")
        #expect((failure["message"] as? String)?.contains("format: env") == true, "\(failure)")
        #expect(try sandbox.command("renew", "web").status == 1)
        #expect(try sandbox.directory.read("app/secret") == text)
        // Emptied it has nothing to lose, and once written it is only damaged.
        for content in ["", text] {
            try sandbox.write(content, to: "app/secret", of: Self.user)
            try sandbox.eventually("the secret") { try sandbox.directory.read("app/secret").hasPrefix("eyJ") }
        }
        // Through a link to a file of root's no program finds the secret, although the writer may not look there.
        let target = try sandbox.directory.write("root's\n", to: "target")
        let link = try sandbox.directory.link("app/link", to: target)
        try #require(unsafe lchown(link, Self.user, Self.user) == 0)
        try sandbox.move("app/link", to: "app/secret")
        try sandbox.eventually("the state") { try sandbox.client(named: "web")["state"] as? String == "critical" }
        try sandbox.expectNoLeftovers()
    }

    @Test func aWriterThatFailsIsAskedAgain() throws {
        let sandbox = try sandbox { path, sandbox in sandbox.client("web", variable: "WEB", of: path) }
        // Looked at, hung up on, killed in the middle of writing; then it goes well.
        let host = try UserWriterHost(sandbox, "drop", "garbage", "serve", "kill")
        defer { host.end() }
        try sandbox.start()
        try sandbox.eventually("the secret") { try sandbox.variable("WEB", of: "app/.env") != nil }
        try sandbox.recovers("the writer answered")
        try sandbox.claims(of: #require(try sandbox.variable("WEB", of: "app/.env")))
        let log = try sandbox.log()
        #expect(log.contains("the writer for its user did not answer"))
        #expect(log.contains("the writer for its user gave an unreadable answer"))
        #expect(try sandbox.directory.read("app/.env").hasPrefix(Self.text))
        try sandbox.expectNoLeftovers("what the killed writer left")
    }

    @Test func aWriterThatDoesNotRespondHoldsUpItsOwnFilesOnly() throws {
        let sandbox = try sandbox { path, sandbox in
            sandbox.client("web", variable: "WEB", of: path) + sandbox.client("own")
        }
        let host = try UserWriterHost(sandbox, "hang", "hang", "hang")
        defer { host.end() }
        try sandbox.start(waiting: false)
        try sandbox.eventually("the other client") {
            try sandbox.command("status").status == 0 && sandbox.client(named: "own")["state"] as? String == "ok"
        }
        let before = try sandbox.published("own")
        try sandbox.succeed("renew", "own")
        #expect(try sandbox.published("own") != before)
        #expect(try sandbox.directory.read("app/.env") == Self.text)
        // A stop does not wait for it.
        #expect(sandbox.stop() == 0)
        #expect(try !sandbox.log().contains("had not ended"))
    }

    // MARK: Who asks a writer

    private func ask(_ sandbox: Sandbox, as user: UInt32, _ request: [String: Any]) throws -> [String: Any] {
        let asking = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3"]
        let script = repository + "/Tests/Support/ask-user-writer.py"
        return try object(
            runToSuccess(
                asking + [script, sandbox.directory("writer/\(Self.user).sock")],
                input: JSONSerialization.data(withJSONObject: request)))
    }

    private func code(_ answer: [String: Any]) -> String? {
        (answer["fault"] as? [String: Any])?["code"] as? String
    }

    @Test func onlyTheDaemonIsAnsweredAndOnlyAboutWhatIsConfigured() throws {
        let sandbox = try sandbox { path, sandbox in
            sandbox.client("web", variable: "WEB", of: path)
                + "      - {path: \(sandbox.directory("out/theirs.jwt")), as: root}\n"
        }
        let daemon: UInt32 = 34_567
        let host = try UserWriterHost(sandbox, daemonUser: "\(daemon)", "daemon")
        defer { host.end() }
        try sandbox.start()
        let token = try #require(try sandbox.variable("WEB", of: "app/.env"))
        sandbox.stop()
        let request: [String: Any] = [
            "version": 1, "task": "observe", "path": sandbox.directory("app/.env"), "kind": "env", "mayCreate": true,
            "places": [["variable": "WEB", "client": "web"]], "tag": "0123456789abcdef",
        ]
        func trying(_ changes: [String: Any], as user: UInt32 = 34_567) throws -> [String: Any] {
            try ask(sandbox, as: user, request.merging(changes) { $1 })
        }
        // The daemon's user and root see the variable and nothing else of the file.
        for user in [daemon, 0] {
            let contents = try #require(try trying([:], as: user)["contents"] as? [String: Any])
            #expect((contents["places"] as? [[String: String]]) == [["variable": "WEB", "token": token]])
            #expect(!"\(contents)".contains("PORT") && !"\(contents)".contains("mine"))
        }
        // Nobody else is told anything, the user whose files they are included.
        for other in [Self.user, 45_678, 65_534] {
            let answer = try trying([:], as: other)
            #expect(code(answer) == "writer_not_permitted" && answer["contents"] == nil, "\(answer)")
            #expect(!"\(answer)".contains(token))
        }
        #expect(code(try trying(["path": "/etc/passwd"])) == "writer_refused")
        #expect(try sandbox.directory.read("app/.env") == Self.text + "WEB=\(token)\r\n")

        // A configuration that others may write to is root's no more.
        try sandbox.permit(sandbox.configuration, 0o666)
        #expect(code(try trying([:])) == "writer_unconfigured")
        try sandbox.permit(sandbox.configuration, 0o644)
        // The configuration counts as it stands there now.
        try sandbox.configureForWriters(sandbox.client("own"))
        #expect(code(try trying([:])) == "writer_refused")

        // Asked to end, it ends.
        kill(host.processID, SIGTERM)
        try sandbox.eventually("the end of the writer") { !host.isRunning }
    }

    @Test func aWriterHoldsNothingOfRoots() throws {
        let sandbox = try sandbox { path, sandbox in sandbox.client("web", variable: "WEB", of: path) }
        let host = try UserWriterHost(sandbox, "daemon")
        defer { host.end() }
        try sandbox.start()
        let status = try String(contentsOfFile: "/proc/\(host.processID)/status", encoding: .utf8)
        func value(_ name: String) -> [Substring] {
            status.split(separator: "\n").first { $0.hasPrefix(name + ":") }?.split(separator: "\t").dropFirst()
                .flatMap { $0.split(separator: " ") } ?? []
        }
        #expect(value("Uid") == ["23456", "23456", "23456", "23456"] && value("Gid") == value("Uid"))
        #expect(value("Groups") == [] && value("NoNewPrivs") == ["1"])
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            #expect(value(set) == ["0000000000000000"], "\(set)")
        }
        #expect(value("Threads") == ["1"])
        // Others of that user cannot look on: the process is not theirs to inspect.
        let memory = try FileManager.default.attributesOfItem(atPath: "/proc/\(host.processID)/mem")
        #expect(memory[.ownerAccountID] as? Int == 0)
    }

    @Test func byHandItSaysHowItIsStarted() throws {
        let sandbox = try Sandbox()
        let byHand = try sandbox.command("write")
        #expect(byHand.status == 64)
        #expect(
            byHand.complaints
                == "clientsecretd: this is started by its socket: "
                + "systemctl enable --now clientsecretd-writer@USER.socket\n")
    }
}
