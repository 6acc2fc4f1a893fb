import Foundation
import TestSupport
import Testing

/// The real binary, from a key that openssl generated to a secret whose signature openssl verifies.
@Suite(.waits) struct EndToEndTests {
    @Test func aKeyBecomesPublishedSecretsWithTheClaimsThatAppleWants() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(
            sandbox.client("web", more: "        mode: \"0640\"") + sandbox.client("native", lifetime: "max"))
        try sandbox.start()

        let judged = try sandbox.judge(sandbox.published())
        let header = try #require(judged["header"] as? [String: Any])
        let claims = try #require(judged["claims"] as? [String: Any])
        #expect(header["alg"] as? String == "ES256")
        #expect(header["kid"] as? String == "ABC123DEFG")
        #expect(header["typ"] as? String == "JWT")
        #expect(claims["iss"] as? String == "DEF123GHIJ")
        #expect(claims["sub"] as? String == "com.example.web")
        let issuedAt = try #require(claims["iat"] as? Int)
        #expect(claims["exp"] as? Int == issuedAt + 60 + 90 * 86_400)
        #expect(abs(Double(issuedAt + 60) - Date().timeIntervalSince1970) < 120)

        let native = try sandbox.claims(of: sandbox.published("native"))
        #expect(native["exp"] as? Int == (native["iat"] as? Int).map { $0 + 60 + 15_776_700 })
        #expect(try sandbox.mode(of: "out/web.jwt") == 0o640)
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(sandbox.stop() == 0)
        #expect(sandbox.leftovers().isEmpty)
    }

    @Test func aRestartMintsNothing() throws {
        let sandbox = try Sandbox.running("web", "native")
        let first = try (sandbox.published(), sandbox.published("native"))
        for _ in 0..<2 {
            sandbox.stop()
            try sandbox.start()
            #expect(try (sandbox.published(), sandbox.published("native")) == first)
        }
        // The outputs are gone, as /run is after a reboot: the state directory still knows.
        sandbox.stop()
        try sandbox.remove("out/web.jwt")
        try sandbox.start()
        #expect(try sandbox.published() == first.0)
        // The state directory is gone: the outputs are taken over.
        sandbox.stop()
        try FileManager.default.removeItem(atPath: sandbox.state)
        try sandbox.makeDirectory("state")
        try sandbox.start()
        #expect(try (sandbox.published(), sandbox.published("native")) == first)
        #expect(try sandbox.log().components(separatedBy: ": minted ").count == 3)
    }

    /// The main job: a secret that is about to expire is replaced in time, and the socket reports it.
    @Test func aSecretIsRenewedWhenItIsDue() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web", lifetime: "150s", more: "    renew_before: 75s"))
        // Minted two minutes ago by an administrator; due in five seconds.
        let first = try sandbox.sign(
            """
            {"iss": "DEF123GHIJ", "sub": "com.example.web", "aud": "https://appleid.apple.com", "iat": -120, "exp": 80}
            """)
        try sandbox.directory.write(first, to: "out/web.jwt")
        try sandbox.start()
        #expect(try sandbox.published() == first)
        try sandbox.eventually("the renewal") { try sandbox.published() != first }
        try sandbox.claims(of: sandbox.published())
        let client = try sandbox.client(named: "web")
        #expect(client["renewals"] as? Int == 1)
        #expect(client["state"] as? String == "ok")
    }

    @Test func aHookRunsOnceForAllThatShareIt() throws {
        let sandbox = try Sandbox()
        let hook = try sandbox.directory.write(
            """
            #!/bin/sh
            echo "$CLIENTSECRETD_CLIENT|$CLIENTSECRETD_CLIENT_ID|$CLIENTSECRETD_OUTPUTS" | tr '\\n' ' ' >> \(sandbox.directory("ran"))
            cat $CLIENTSECRETD_OUTPUTS
            """, to: "hook", mode: 0o755)
        let more = "    on_change:\n      - exec: [\(hook), --quiet]\n"
        try sandbox.configure(sandbox.client("web", more: more) + sandbox.client("native", more: more))
        try sandbox.start()
        try sandbox.recovers("the start")
        let paths = "\(sandbox.directory("out/native.jwt")) \(sandbox.directory("out/web.jwt"))"
        #expect(
            try sandbox.directory.read("ran").trimmingCharacters(in: .whitespaces)
                == "native web|com.example.native com.example.web|" + paths)
        // What the hook printed is in the log, the secrets in it replaced by their names.
        let token = try sandbox.published()
        #expect(try !sandbox.log().contains(token))
        #expect(try sandbox.log().contains("hook --quiet: 'sha256:"))
        // A restart repeats nothing that was delivered.
        sandbox.stop()
        try sandbox.start()
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(try sandbox.directory.read("ran").split(separator: "|").count == 3)
    }

    @Test func onceServesTheGoodAndNamesTheBad() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web") + sandbox.client("bad", at: sandbox.directory("none/bad.jwt")))
        let once = try sandbox.command("run", "--once")
        #expect(once.status == 1)
        #expect(once.complaints.contains(sandbox.directory("none")))
        try sandbox.claims(of: sandbox.published())
        try sandbox.makeDirectory("none")
        try sandbox.succeed("run", "--once")
        try sandbox.claims(of: sandbox.directory.read("none/bad.jwt"))
    }

    @Test func exitCodesAreThoseOfTheContract() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web", more: "    nonsense: 1"))
        for (command, status) in [
            (["run"], 78), (["check"], 78), (["status"], 69), (["renew"], 69), (["renew", "--due-within", "soon"], 64),
            (["frobnicate"], 64), (["inspect", sandbox.directory("nothing")], 66),
        ] {
            #expect(try sandbox.command(command).status == Int32(status), "\(command)")
        }
        try sandbox.configure(sandbox.client("web"))
        try sandbox.succeed("check")
        #expect(!sandbox.isThere("out/web.jwt"))
        try sandbox.start()
        #expect(try sandbox.command("run", "--once").status == 75)
        #expect(try sandbox.command("check", "--config", sandbox.directory("nothing.yaml")).status == 78)
    }
}
