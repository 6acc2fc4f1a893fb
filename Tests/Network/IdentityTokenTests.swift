import Foundation
import TestSupport
import Testing

/// Identity tokens, signed by another implementation, as `id-token` judges them.
@Suite(.waits, .needs(.venv)) struct IdentityTokenTests {
    private static let nonce = "the-nonce-that-was-sent"

    /// One operator, one stand-in that is told nothing, and tokens of every kind, for all tests.
    private struct Shared {
        let own: Operator
        let apple: StandIn
        let tokens: [String: String]
    }

    private nonisolated(unsafe) static let shared = Result {
        let own = try Operator()
        let apple = try own.standIn()
        return Shared(
            own: own, apple: apple, tokens: try apple.identityTokens(client: Operator.client, nonce: nonce))
    }

    private let own: Operator
    private let apple: StandIn
    private let tokens: [String: String]

    init() throws {
        let shared = try unsafe Self.shared.get()
        (own, apple, tokens) = (shared.own, shared.apple, shared.tokens)
    }

    /// - Parameter other: a stand-in of the test's own.
    private func judge(_ kind: String, _ more: String..., by other: StandIn? = nil) throws -> Finished {
        let apple = other ?? apple
        return try run(
            [
                own.binary, "id-token", "web", "--config", own.configuration, "--endpoint", apple.address, "--ca-file",
                apple.authority,
            ] + more, input: Data(try #require(tokens[kind]).utf8))
    }

    @Test(arguments: ["good", "former-key", "other-user"])
    func isAccepted(kind: String) throws {
        let finished = try judge(kind)
        #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        #expect(finished.output.contains("identity token: good"))
        #expect(finished.output.contains("email             standin@privaterelay.appleid.com"))
    }

    @Test(arguments: [
        ("alg-none", "it is signed with none, and Apple signs only with RS256"),
        ("hs256", "it is signed with HS256"),
        ("rs512", "it is signed with RS512"),
        ("other-kid", "the key NOBODYS, which is not in Apple's key set"),
        ("no-kid", "does not name the key that signed it"),
        ("critical-header", "\"crit\""),
        ("wrong-key", "the signature is wrong"),
        ("tampered", "the signature is wrong"),
        ("duplicate-claim", "\"sub\" is in it twice"),
        ("duplicate-escaped", "\"aud\" is in it twice"),
        ("two-parts", "three parts"),
        ("other-audience", "it was issued for com.example.other"),
        ("audience-list", "\"aud\" is a list in it (com.example.web, com.example.other)"),
        ("audience-list-of-one", "\"aud\" is a list in it (com.example.web)"),
        ("other-issuer", "its issuer is https://login.example.com, not https://appleid.apple.com"),
        ("issuer-with-slash", "its issuer is https://appleid.apple.com/, not"),
        ("expired", "it has expired"),
        ("future", "issued in the future"),
        ("not-yet-valid", "it is not valid before"),
        ("text-start", "\"nbf\" is missing in it, or has the wrong type"),
        ("no-expiry", "\"exp\" is missing"),
        ("text-expiry", "\"exp\" is missing in it, or has the wrong type"),
        ("no-subject", "\"sub\" is missing"),
    ])
    func isNotAccepted(kind: String, words: String) throws {
        let finished = try judge(kind)
        #expect(finished.status == 1)
        #expect(finished.output.contains("identity token: not accepted"), "\(finished.output)\(finished.complaints)")
        #expect(finished.output.contains(words), "\(finished.output)")
        // Claims that nobody has proved are not shown.
        let isProved =
            !["alg-none", "hs256", "rs512", "other-kid", "no-kid", "critical-header", "wrong-key", "tampered"]
            .contains(kind) && !kind.hasPrefix("duplicate") && kind != "two-parts"
        #expect(finished.output.contains("email  ") == isProved, "\(finished.output)")
    }

    @Test func aTokenThatHasJustExpiredIsAccepted() throws {
        let token = try #require(try apple.identityTokens(client: Operator.client, nonce: Self.nonce)["just-expired"])
        let finished = try own.ask(apple, "id-token", "web", input: token)
        #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        #expect(finished.output.contains("identity token: good"), "\(finished.output)")
    }

    @Test func anAnswerForPrograms() throws {
        let good = try object(judge("good", "--json").output)
        #expect(good["valid"] as? Bool == true && (good["flaws"] as? [String]) == [])
        #expect((good["claims"] as? [String: Any])?["aud"] as? String == Operator.client)
        let bad = try object(judge("tampered", "--json").output)
        #expect(bad["valid"] as? Bool == false && (bad["flaws"] as? [String])?.count == 1)
        #expect((bad["claims"] as? [String: Any])?.isEmpty == true)
    }

    @Test func theNonceIsTheOneThatWasSent() throws {
        #expect(try judge("good", "--nonce", Self.nonce).status == 0)
        let other = try judge("good", "--nonce", "mine")
        #expect(other.status == 1 && other.output.contains("its nonce is neither the one that was sent"))
    }

    /// For Swift the letter K and the sign for kelvin are the same, as are the two ways to write é.
    @Test func textsThatLookTheSameDiffer() throws {
        let own = try Operator()
        try own.publish(client: "com.example.Kiosk")
        for (client, nonce, status, words) in [
            ("com.example.Kiosk", "Ame\u{301}lie", 0, "good"),
            ("com.example.Kiosk", "Am\u{E9}lie", 1, "its nonce is neither"),
            ("com.example.\u{212A}iosk", "Ame\u{301}lie", 1, "it was issued for"),
        ] as [(String, String, Int32, String)] {
            let token = try apple.identityTokens(client: client, nonce: nonce)["good"] ?? ""
            let finished = try own.ask(apple, "id-token", "web", "--nonce", "Ame\u{301}lie", input: token)
            #expect(finished.status == status, "\(finished.output)\(finished.complaints)")
            #expect(finished.output.contains(words), "\(finished.output)")
        }
    }

    /// A key that Apple has just begun to sign with may be missing in an answer that lay in a cache.
    @Test func anUnknownKeyFetchesTheKeySetOnceMore() throws {
        let apple = try own.standIn()
        try apple.order("/auth/keys without-current times=1")
        #expect(try judge("good", by: apple).status == 0)
        #expect(try apple.log() == ["/auth/keys key set", "/auth/keys key set"])
        try apple.order("/auth/keys without-current")
        let finished = try judge("good", by: apple)
        #expect(finished.status == 1 && finished.output.contains("STANDIN2, which is not in Apple's key set"))
        #expect(try apple.log().count == 4)
    }

    /// As much as is read at all, and a byte more.
    @Test func aKeySetOfAMebibyteIsReadAndNoMore() throws {
        let apple = try own.standIn()
        try apple.order("/auth/keys size=1048576")
        #expect(try judge("good", by: apple).status == 0)
        try apple.order("/auth/keys size=1048577")
        let finished = try judge("good", by: apple)
        #expect(finished.status == 1)
        #expect(finished.complaints.contains("longer than any of Apple's"))
    }

    @Test func withoutAKeySetNothingIsReportedOfTheToken() throws {
        let apple = try own.standIn()
        for (action, words) in [
            ("status=503", "answered 503 instead of the key set"), ("html", "instead of the key set"),
            ("reset", "ended before the answer"),
            ("redirect", "answered 302"),
        ] {
            try apple.order("/auth/keys \(action)")
            let finished = try judge("good", by: apple)
            #expect(finished.status == 1 && finished.output == "")
            #expect(finished.complaints.contains(words), "\(finished.complaints)")
        }
    }
}
