import Foundation
import TestSupport
import Testing

/// `clientsecretd verify`: every verdict, and the advice for every cause that can be told.
@Suite(.waits, .needs(.venv)) struct VerifyTests {
    private let own: Operator

    init() throws {
        own = try Operator()
    }

    /// The causes named for the one secret that was refused, and whether they are certain.
    private func causes(_ finished: Finished) throws -> [String] {
        let secrets = try #require(try object(finished.output)["secrets"] as? [[String: Any]])
        try #require(secrets.count == 1)
        #expect(secrets[0]["verdict"] as? String == "refused")
        let advice = try #require(secrets[0]["advice"] as? [[String: Any]])
        return advice.map { "\($0["cause"] ?? "")\($0["certain"] as? Bool == true ? "!" : "")" }
    }

    /// A secret by hand, without a configuration.
    @Test func aSecretFromAFileOrStandardInputIsTried() throws {
        let apple = try own.standIn()
        let secret = try own.directory.read("web.jwt")
        let fromFile = try own.ask(apple, "verify", own.secretFile)
        #expect(fromFile.status == 0)
        // It is tried with a code that nobody has.
        #expect(try apple.log() == ["/auth/token invalid_grant: unknown code, or one that was exchanged already"])
        #expect(fromFile.output.hasPrefix("com.example.web: accepted (sha256:"))
        let environment = ["CLIENTSECRETD_CONFIG": "/nowhere"]
        let fromInput = try own.ask(
            apple, "verify", "-", input: secret, environment: environment)
        #expect(fromInput.status == 0)
        let variables = try own.ask(apple, "verify", "-", input: "A=1\nB=\"\(secret)\"\n", environment: environment)
        #expect(variables.status == 0, "\(variables.complaints)")
        let named = try own.ask(
            apple, "verify", "-", "--variable", "A", input: "A=\(secret)\nB=\(secret)\n", environment: environment)
        #expect(named.status == 0, "\(named.complaints)")
        let other = try own.ask(apple, "verify", "-", input: "secret")
        #expect(other.status == 3 && other.complaints.contains("this is not a client secret"))
    }

    @Test func aStrayRefusalIsAskedAboutAgain() throws {
        let apple = try own.standIn()
        try apple.order("/auth/token error=invalid_client times=1")
        let finished = try own.ask(apple, "verify")
        #expect(finished.status == 0)
        #expect(finished.output.contains("web: accepted") && finished.output.contains("by mistake under load"))
        #expect(try apple.log().count == 2)
    }

    @Test func refusedOnceAndThenNothingIsNotKnown() throws {
        let apple = try own.standIn()
        try apple.order("/auth/token error=invalid_client times=1", "/auth/token status=503")
        let finished = try own.ask(apple, "verify")
        #expect(finished.status == 3)
        #expect(finished.output.hasPrefix("web: not known (sha256:"))
        // As docs/verify.md shows it: the sentence is ours, and is not quoted.
        #expect(
            finished.output.contains(
                "): the server answered 503 with something that is not an OAuth error; the first answer was invalid_client, "
            ), "\(finished.output)")
    }

    @Test func withoutACauseToBeSeenEveryPossibleOneIsNamed() throws {
        let apple = try StandIn()
        let finished = try own.ask(apple, "verify")
        #expect(finished.status == 1)
        #expect(finished.output.contains("web: refused (sha256:"))
        #expect(finished.output.contains("Apple answered invalid_client, twice"))
        #expect(!finished.output.contains("nothing wrong is seen"))
        for words in ["48 hours", "ABC123DEFG is listed", "com.example.web is written so", "DEF123GHIJ is the team"] {
            #expect(finished.output.contains(words), "\(words)")
        }
        #expect(try causes(own.ask(apple, "verify", "--json")) == ["not_known_yet", "key", "client", "team"])
        #expect(try apple.log().allSatisfy { $0.hasSuffix("invalid_client: unknown client id") })
    }

    /// Not for certain: a file may have been renamed.
    @Test func aKeyFileOfAnotherIdIsTheLikeliestCause() throws {
        let other = own.directory("AuthKey_OTHERKEY99.p8")
        try own.makeKey(at: other)
        try own.publish(keyFile: other)
        let apple = try own.standIn()
        let finished = try own.ask(apple, "verify", "--json")
        #expect(try causes(finished) == ["key", "not_known_yet", "key", "client", "team"])
        #expect(finished.output.contains("AuthKey_OTHERKEY99.p8"))
        #expect(try apple.log().last?.hasSuffix("wrong signature") == true)
    }

    @Test func aSecretThatTheConfiguredKeyHasNotSignedIsSeen() throws {
        let apple = try own.standIn()
        let other = own.directory("other.p8")
        try own.makeKey(at: other)
        try own.mint(keyFile: other)
        let finished = try own.ask(apple, "verify", "--json")
        #expect(try causes(finished) == ["key!"])
        #expect(finished.output.contains("has not signed it"))
    }

    @Test func idsThatDifferFromTheConfigurationAreSeen() throws {
        let apple = try own.standIn()
        try own.mint(keyID: "KEYID00000", team: "TEAM000000")
        #expect(try causes(own.ask(apple, "verify", "--json")) == ["team!", "key!"])
    }

    @Test(arguments: [
        ("90d", -400, "seconds ahead of Apple's", "issued in the future"),
        ("120s", 4_000, "seconds behind Apple's", "expired"),
    ])
    func aClockThatIsWrongIsSeen(lifetime: String, clock: Int, words: String, answer: String) throws {
        try own.publish(lifetime: lifetime)
        let apple = try own.standIn()
        try apple.setClock(clock)
        let finished = try own.ask(apple, "verify", "--json")
        #expect(try causes(finished) == ["clock!"])
        #expect(finished.output.contains(words))
        #expect(try apple.log().last?.hasSuffix(answer) == true)
    }

    @Test func theLongestLifeIsAcceptedWithAClockThatIsHalfAMinuteAhead() throws {
        try own.publish(lifetime: "max")
        let apple = try own.standIn()
        #expect(try own.ask(apple, "verify").status == 0)
        try apple.setClock(-30)
        #expect(try own.ask(apple, "verify").status == 0)
    }

    @Test func anExpiredSecretIsSeen() throws {
        let apple = try own.standIn()
        let now = Int(Date().timeIntervalSince1970)
        for (claims, cause) in [
            (["iat": now - 1_000, "exp": now - 100], "expired!"),
            (["iat": now - 1_000, "exp": now + 20_000_000], "lifetime!"),
            (["iat": now + 1_000, "exp": now + 2_000], "clock!"),
            (["iat": now - 1_000, "exp": now + 2_000, "aud": "https://account.apple.com"], "form!"),
        ] as [([String: Any], String)] {
            try mintByHand(claims: claims)
            #expect(try causes(own.ask(apple, "verify", "--json")) == [cause])
        }
    }

    /// A secret with these claims, in the output.
    private func mintByHand(claims: [String: Any]) throws {
        let all: [String: Any] = [
            "iss": Operator.team, "sub": Operator.client, "aud": "https://appleid.apple.com",
        ].merging(claims) { $1 }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: all), as: UTF8.self)
        let program = """
            import json, jwt, sys
            print(jwt.encode(json.loads(sys.argv[1]), open(sys.argv[2]).read(), "ES256", {"kid": sys.argv[3]}), end="")
            """
        let made = try runToSuccess([python, "-c", program, text, own.keyFile, Operator.keyID])
        try own.directory.write(made, to: "web.jwt")
    }

    /// Whatever lies at an output's path, only a secret of its client goes out.
    @Test func onlyASecretOfTheClientIsSent() throws {
        let apple = try own.standIn()
        for text in ["root:x:0:0", "a.b.c", nil] {
            if let text {
                try own.directory.write(text, to: "web.jwt")
            } else {
                try own.mint(client: "com.example.other")
            }
            #expect(try own.ask(apple, "verify").status == 3)
        }
        try FileManager.default.removeItem(atPath: own.secretFile)
        let nothing = try own.ask(apple, "verify")
        #expect(nothing.status == 3 && nothing.output.contains("web: not known: there is no secret to verify"))
        #expect(try apple.log() == [])
    }

    private func addClient(_ client: String) throws {
        let text = try own.directory.read("clientsecretd.yaml")
        try own.directory.write(
            text.replacingOccurrences(of: "clients: {", with: "clients: {\(client), "), to: "clientsecretd.yaml")
    }

    @Test func theWorstVerdictIsTheExitCode() throws {
        let apple = try own.standIn()
        let shop = own.directory("shop.jwt")
        try own.mint(client: "com.example.shop", to: "shop.jwt")
        try addClient("shop: {client_id: com.example.shop, outputs: [{path: \(shop)}]}")
        let both = try own.ask(apple, "verify")
        #expect(both.status == 1)
        #expect(both.output.contains("shop: refused") && both.output.contains("web: accepted"))
        #expect(try own.ask(apple, "verify", "web").status == 0)
        try FileManager.default.removeItem(atPath: shop)
        #expect(try own.ask(apple, "verify").status == 3)
        let unknown = try own.ask(apple, "verify", "wib")
        #expect(unknown.status == 64 && unknown.complaints.contains("did you mean \"web\"?"))
    }

    @Test func itSaysWhichPackageIsMissing() throws {
        let directory = try TemporaryDirectory()
        try copyProgram(own.binary, to: directory("clientsecretd"))
        let finished = try run(
            [directory("clientsecretd"), "verify"], environment: ["CLIENTSECRETD_CONFIG": own.configuration])
        #expect(finished.status == 3)
        #expect(finished.complaints.contains("in that directory, run: apt-get install ./clientsecretd-network_*.deb"))
    }

    /// Writes a configuration with a client without outputs.
    private func serveAsCredential() throws {
        try own.directory.write(
            """
            keys: {apple: {team_id: \(Operator.team), file: \(own.keyFile)}}
            clients: {web: {client_id: \(Operator.client), credential: {unit: myapp.service, name: apple}}}
            state_dir: \(own.directory("state"))
            """, to: "clientsecretd.yaml")
    }

    private func runOnce() throws {
        let once = try own.clientsecretd("run", "--once", "--socket", own.directory("status.sock"))
        try #require(once.status == 0, "\(once.complaints)")
    }

    /// A client without outputs: its secret is served to a unit, and is in the state directory alone.
    @Test func aSecretThatIsServedAsACredentialIsTried() throws {
        let apple = try own.standIn()
        try serveAsCredential()
        let nothing = try own.ask(apple, "verify")
        #expect(
            nothing.status == 3 && nothing.output.contains("there is no secret of client \"web\""), "\(nothing.output)")
        try runOnce()
        let finished = try own.ask(apple, "verify")
        #expect(finished.status == 0 && finished.output.contains("web: accepted (sha256:"), "\(finished.output)")
        #expect(try own.ask(apple, "refresh", "web", input: "token").complaints.contains("invalid_grant"))
    }

    @Test(.needs(.root)) func aUserThatMayNotReadTheStateDirectoryGetsThatReason() throws {
        try serveAsCredential()
        try runOnce()
        for (path, mode) in [(own.directory.path, 0o755), (own.configuration, 0o644)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let finished = try run(
            ["setpriv", "--reuid", "65534", "--clear-groups", own.binary, "verify", "--config", own.configuration])
        #expect(finished.status == 3)
        #expect(finished.output.contains("which only root and the daemon can read; use sudo"), "\(finished.output)")
    }

    /// What is known of one client is told, whatever becomes of the next.
    @Test func aFailureLeavesOtherResults() throws {
        let asked = own.directory("asked")
        let directory = try own.besideScript("cat >/dev/null; mkdir '\(asked)' && echo '{\"verdict\":\"accepted\"}'")
        let other = try own.directory.write(own.directory.read("web.jwt"), to: "zoo.jwt")
        try addClient("zoo: {client_id: com.example.web, outputs: [{path: \(other)}]}")
        let finished = try run(
            [directory("clientsecretd"), "verify", "--json"], environment: ["CLIENTSECRETD_CONFIG": own.configuration])
        #expect(finished.status == 3)
        let secrets = try #require(try object(finished.output)["secrets"] as? [[String: Any]])
        #expect(secrets.map { $0["verdict"] as? String } == ["accepted", "unknown"])
        #expect((secrets.last?["detail"] as? String)?.contains("gave no answer") == true)
    }
}
