import Foundation
import TestSupport
import Testing

/// A secret or a private key never appears in a log, a status, a metric, an error or a command line: a daemon with a known
/// key lives through all that makes it talk, and every byte that came out is looked through for pieces of them. Takes some
/// twenty seconds.
@Suite(.waits, .needs(.tools)) final class CanaryTests {
    private var configuration = ""

    @Test func nothingThatComesOutHoldsAPieceOfASecret() throws {
        let field = try CanaryFixture()
        let sandbox = field.sandbox
        // Before anything: a secret to be pasted into wrong places.
        let token = try field.command(
            "mint", "--key", sandbox.key, "--team-id", "DEF123GHIJ", "--client-id", "com.example.web",
            answersWithASecret: true
        ).output
        try #require(token.hasPrefix("eyJ"))
        try configure(field, token)
        try field.command("check")
        try field.start()
        // Each is waited for: a renewal that comes before a repair takes its place.
        try drift(field, "SECRET=\(token)x\nNEIGHBOUR=\(neighbour)\n", until: "its repair") {
            try isRepaired(field) && !sandbox.directory.read("out/app.env").contains("\(token)x")
        }
        try pasteIntoConfigurations(field, token)
        try drift(field, "SECRET='\(token)\n", until: "its repair") {
            try isRepaired(field) && sandbox.log().contains("cannot be read or edited safely")
        }
        try pasteIntoCommands(field, token)
        try drift(field, CanaryFixture.pem, until: "its refusal") {
            try sandbox.log().contains("out/web.jwt: the file holds other content, which is not overwritten: it is PEM")
        }
        try visitTheSocket(field, token)
        try reload(field, token)
        field.hearProcess()
        #expect(sandbox.stop() == 0)
        try runOnce(field)
        let leaks = try field.leaks()
        #expect(leaks.isEmpty, "\(leaks.joined(separator: "\n"))")
        try sandbox.expectNoLeftovers()
        // Every secret that was ever minted is one that was looked for.
        let log = try sandbox.log() + sandbox.directory.read("once")
        let minted = Set(log.matches(of: #/minted (sha256:[0-9a-f]{16})/#).map { String($0.1) })
        let missed = minted.subtracting(try field.fingerprints())
        #expect(minted.count > 5 && missed.isEmpty, "\(minted.count) minted; not seen: \(missed)")
        let hasDoubtedTheClock = log.contains("before this program was built")
        #expect(hasDoubtedTheClock)
        #expect(
            field.said > 500_000 && field.channels.count > 60, "\(field.said) bytes, \(field.channels.count) channels")
        for name in ["notes/hook-environ", "notes/hook-links", "notes/daemon-cmdline", "metrics.prom"] {
            #expect(sandbox.isThere(name), "\(name)")
        }
        let hasNoCore = try sandbox.directory.read("notes/hook-limits").contains(#/Max core file size +0 +0 /#)
        #expect(hasNoCore)
    }

    private let neighbour = "aN0ther-Secret_0f-the-Same-F1le"

    private func configure(_ field: CanaryFixture, _ token: String) throws {
        let sandbox = field.sandbox
        try sandbox.directory.write("PORT=80\nNEIGHBOUR=\(neighbour)\nSECRET=\n", to: "out/app.env")
        try sandbox.directory.write("SECRET=$(cat x) NEIGHBOUR=\(neighbour)\n", to: "out/shell.env")
        try sandbox.directory.link("out/linked.jwt", to: sandbox.key)
        try sandbox.directory.write(String(CanaryFixture.pem.dropLast(40)), to: "keys/AuthKey_TORN567890.p8")
        try sandbox.directory.write(token, to: "keys/AuthKey_TOKEN56789.p8")
        for (name, mode) in [("shout", 0o755), ("unsafe", 0o777)] {
            try FileManager.default.copyItem(
                atPath: repository + "/Tests/Support/print-secrets-hook.py", toPath: sandbox.directory(name))
            try sandbox.permit(sandbox.directory(name), mode)
        }
        func client(_ name: String, _ output: String, key: String = "apple", hook: String = "") -> String {
            "  \(name):\n    client_id: com.example.\(name)\n    key: \(key)\n    outputs: [\(output)]\n\(hook)"
        }
        func hook(_ program: String, _ way: String) -> String {
            "    on_change: [{exec: [\(sandbox.directory(program)), \(sandbox.directory("notes")), \(sandbox.key), \(way)]}]\n"
        }
        func output(_ name: String, _ more: String = "") -> String {
            "{path: \(sandbox.directory("out/" + name))\(more)}"
        }
        configuration =
            """
            keys:
              apple: {team_id: DEF123GHIJ, file: \(sandbox.key)}
              torn: {team_id: DEF123GHIJ, file: \(sandbox.directory("keys/AuthKey_TORN567890.p8"))}
              token: {team_id: DEF123GHIJ, file: \(sandbox.directory("keys/AuthKey_TOKEN56789.p8"))}
            state_dir: \(sandbox.state)
            metrics_file: \(sandbox.directory("metrics.prom"))
            clients:

            """
            + client(
                "web", output("web.jwt") + ", " + output("web.json", ", format: json"), hook: hook("shout", "floods"))
            + client("app", output("app.env", ", format: env, variable: SECRET"), hook: hook("shout", "fails"))
            + client("shell", output("shell.env", ", format: env, variable: SECRET"))
            + client("lost", output("no/lost.jwt")) + client("linked", output("linked.jwt"))
            + client("unsafe", output("unsafe.jwt"), hook: hook("unsafe", "well"))
            + client("torn", output("torn.jwt"), key: "torn") + client("odd", output("odd.jwt"), key: "token")
        try sandbox.directory.write(configuration, to: "clientsecretd.yaml")
    }

    /// Somebody writes into two outputs what is no good there, and the daemon does what it does about that.
    private func drift(
        _ field: CanaryFixture, _ content: String, until what: String, _ isDone: () throws -> Bool
    ) throws {
        try field.sandbox.directory.write(content, to: "out/app.env")
        try field.sandbox.directory.write(content, to: "out/web.jwt")
        try field.sandbox.eventually(what, isDone)
    }

    private func isRepaired(_ field: CanaryFixture) throws -> Bool {
        try field.sandbox.directory.read("out/web.jwt").hasPrefix("eyJ")
    }

    /// A key or a secret in every place of a configuration, and in the place of one.
    private func pasteIntoConfigurations(_ field: CanaryFixture, _ token: String) throws {
        let directory = field.sandbox.directory
        try field.sandbox.makeDirectory("given")
        let body = CanaryFixture.pem.split(separator: "\n").dropFirst().dropLast().joined()
        let escaped = "\"" + CanaryFixture.pem.replacing("\n", with: "\\n") + "\""
        let digits = CanaryFixture.scalar.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let scalar = Data(CanaryFixture.scalar).base64EncodedString().dropLast()
        let name = scalar.replacing("+", with: "-").replacing("/", with: "_")
        for secret in [token, body, escaped, digits, String(scalar), String(name)] {
            for template in Self.places {
                try directory.write(template.replacingOccurrences(of: "@", with: String(secret)), to: "given/c.yaml")
                let checked = try field.command("check", "--config", directory("given/c.yaml"))
                #expect(checked.status == 78, "\(template): \(checked)")
            }
        }
        for content in [CanaryFixture.pem, token, "keys: |\n" + CanaryFixture.pem, "# \(token)\n"] {
            try directory.write(content, to: "given/c.yaml")
            try field.command("check", "--config", directory("given/c.yaml"))
            try field.command("run", "--config", directory("given/c.yaml"))
            try field.command("health", "--offline", "--config", directory("given/c.yaml"))
        }
        try field.command("check", "--config", field.sandbox.key)
        try field.command("run", "--config", field.sandbox.key)
    }

    private static let places =
        ["", "keys: ", "- ", "'", "\"", "[", "{", "&a [", "*", "&", "!", "!<", "%", "|", ">", "? ", "--- ", "a: b: "]
        .map {
            $0 + "@"
        } + [
            "@: x\n", "@:\n  @: @\n", "keys: {@: {team_id: DEF123GHIJ}}\nclients: {@: {key: @}}\n",
            "defaults: {@: 1, lifetime: @}\n", "<<: @\n", "x: !@ y\n", "x: &@ y\nz: *@\n", "@\n@: [\n", "@\t: @",
            """
            keys:
              apple: {team_id: @, key_id: @, file: @, passphrase_file: @}
              next: {team_id: @, key_id: @, credential: @, passphrase_credential: @}
              third: @
            defaults: {lifetime: @, renew_before: @, key: @}
            clients:
              web:
                client_id: @
                key: @
                lifetime: @
                renew_before: @
                outputs:
                  - {path: @, mode: @, group: @, format: @, variable: @, as: @, @: @}
                  - @
                on_change:
                  - {restart: @}
                  - {exec: [@], timeout: @}
                  - {exec: @}
                  - {signal: {unit: @, signal: @}}
                  - {@: @}
                verify: @
                credential: {unit: @, name: @}
            on_state_change: [{start: @}, @]
            control_group: @
            state_dir: @
            metrics_file: @
            """,
        ]

    /// A key or a secret as the argument of every command, and in the file that one names.
    private func pasteIntoCommands(_ field: CanaryFixture, _ token: String) throws {
        let directory = field.sandbox.directory
        let key = field.sandbox.key
        let wrong = directory("keys/AuthKey_TOKEN56789.p8")
        let flags = ["--team-id", "DEF123GHIJ", "--client-id", "com.example.web"]
        for arguments in [
            ["inspect", key], ["inspect", wrong, "--key", wrong], ["inspect", wrong, "--key", key, "--json"],
            ["inspect", directory("out/web.json")], ["inspect", directory("out/app.env"), "--variable", "SECRET"],
            ["inspect", directory("out/shell.env"), "--variable", "NEIGHBOUR"],
            ["inspect", wrong, "--variable", token],
            ["inspect", token], ["mint", token], ["mint", "torn"],
            ["mint", "--key", wrong, "--key-id", "ABC123DEFG"] + flags,
            ["mint", "--key", token] + flags, ["mint", "--key", CanaryFixture.pem], ["inspect", CanaryFixture.pem],
            ["mint", "--key", key, "--team-id", token],
            ["mint", "--key", key, "--key-id", token], ["mint", "--lifetime", token], ["mint", "--format", token],
            ["mint", "--format", "env", "--variable", token], ["renew"], ["renew", "app", "lost"], ["renew", token],
            ["renew", "--due-within", token], ["renew", "--deliver-only", "--json"], ["status"], ["status", "--json"],
            ["status", token], ["status", "--\(token)"], ["status", "--socket", token], ["health"],
            ["health", "--offline"], ["health", token], ["reload", token], [token], ["--\(token)"],
            ["init", "--config", "-", "--key", key] + flags, ["init", "--config", "-", "--key", token] + flags,
            ["init", "--config", "-", "--key", key, "--client-id", "a", "--team-id", token],

            ["check", token], ["run", token], ["run", "--once", token], ["write", token], ["--help"],
            ["mint", "--help"],
        ] {
            try field.command(arguments)
        }
        for text in [
            CanaryFixture.pem, token + token, "{\"client_secret\": \"\(token)", token + "\n\u{1B}", "eyJ.\(token)",
        ] {
            try field.command("inspect", "-", input: text)
            try field.command("inspect", "-", "--variable", "SECRET", input: "SECRET=\(text)")
        }
        try field.command("mint", "web", answersWithASecret: true)
    }

    /// What there is to be had over HTTP, and answers to what is no good.
    private func visitTheSocket(_ field: CanaryFixture, _ token: String) throws {
        let json = "--header Content-Type:application/json --data"
        for path in ["v1/status", "v1/clients/web", "healthz", "readyz", "metrics"] {
            try field.visit("http://localhost/\(path)")
        }
        for request in [
            "http://localhost/\(token)", "http://localhost/v1/clients/\(token)", "http://localhost/\(token)?\(token)",
            "--request POST http://localhost/v1/clients/\(token)/renew",
            "--request \(token.prefix(60)) http://localhost/",
            "\(json) {\"clients\":[\"\(token)\"]} http://localhost/v1/renew",
            "\(json) {\"\(token)\":1} http://localhost/v1/renew", "\(json) \(token) http://localhost/v1/renew",
            "\(json) {\"due_within\":\"\(token)\"} http://localhost/v1/renew",
            "--header Content-Type:\(token) --data x http://localhost/v1/renew",
            "--header Host:\(token) http://localhost/healthz", "--data \(token) http://localhost/v1/reload",
            "--request POST http://localhost/v1/clients/web/renew",
            "\(json) {\"deliver_only\":true} http://localhost/v1/renew",
        ] {
            try field.visit(request)
        }
    }

    /// Refused and adopted, by the command and by the signal.
    private func reload(_ field: CanaryFixture, _ token: String) throws {
        let sandbox = field.sandbox
        for bad in ["clients: {\(token): ", "keys: |\n" + CanaryFixture.pem, CanaryFixture.pem] {
            try sandbox.directory.write(bad, to: "clientsecretd.yaml")
            #expect(try field.command("reload").status == 78)
            try field.command("status")
            try field.command("status", "--json")
            try field.command("health")
            try field.visit("http://localhost/healthz")
        }
        try sandbox.directory.write(configuration, to: "clientsecretd.yaml")
        try field.command("reload")
        // A key in the place of a secret is not written over; as soon as it has gone the secret comes back.
        try sandbox.remove("out/web.jwt")
        try sandbox.eventually("the secret in the place of a key") { (try? isRepaired(field)) == true }
        // Again and again, until that was one time too often: a renewal that came between is no repair.
        try sandbox.eventually("another program that keeps changing it") {
            let isNoticed = try sandbox.log().contains("another program keeps changing it")
            if !isNoticed, (try? isRepaired(field)) == true {
                try sandbox.directory.write("SECRET=\(token)x\n", to: "out/web.jwt")
            }
            return isNoticed
        }
        // A daemon that did nothing would say nothing. Some of it comes after the deed: a stop would come before.
        for words in [
            "exit status 3", "(PEM)", "other users can change", "omitted)", "cannot be read or edited safely",
            "clientsecretd.yaml:1:",
        ] {
            try sandbox.eventually("saying \"\(words)\"") { try sandbox.log().contains(words) }
        }
    }

    /// From a new start, and at a time when the clock cannot be right.
    private func runOnce(_ field: CanaryFixture) throws {
        let library = try TimeTravel.library()
        var said = ""
        try field.collectTokens()
        for environment in [[:], ["LD_PRELOAD": library, "FAKETIME": "-20y", "FAKETIME_SHARED": "none none"]] {
            try FileManager.default.removeItem(atPath: field.sandbox.state)
            try field.sandbox.makeDirectory("state")
            said += try field.command(["run", "--once"], environment: environment).complaints
        }
        try field.sandbox.directory.write(said, to: "once")
    }
}
