import AppleAPI
import AppleClientSecret
import Failures
import Testing

@Suite struct VerdictTests {
    private func verdict(_ status: Int, _ body: String) -> Verdict {
        Verdict(.success(HTTPAnswer(status: status, body: Array(body.utf8), date: nil)))
    }

    /// Apple's answers are read leniently.
    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, Verdict.Outcome.accepted),
        (
            400, "\n {\"error\" : \"invalid_grant\", \"error_description\":\"The code has expired\", \"x\":{}}",
            .accepted
        ),
        (400, #"{"error":"invalid_client","email_verified":false}"#, .refused),
        (401, #"{"error":"invalid_client"}"#, .refused),
        (400, #"{"error":"invalid_request"}"#, .unknown), (400, #"{"error":"Invalid_Client"}"#, .unknown),
        (400, #"{"error":{"code":"invalid_client"}}"#, .unknown), (400, "invalid_client", .unknown),
        (400, "", .unknown),
        (500, #"{"error":"invalid_client"}"#, .unknown), (429, #"{"error":"invalid_client"}"#, .unknown),
        (200, #"{"error":"invalid_grant"}"#, .unknown), (302, #"{"error":"invalid_client"}"#, .unknown),
        (200, #"{"access_token":"a"}"#, .unknown),
        // It says both.
        (400, #"{"error":"invalid_client","error":"invalid_grant"}"#, .unknown),
        (400, #"{"error":"invalid_grant","error":"invalid_client"}"#, .unknown),
    ])
    func isWhatAppleMeans(status: Int, body: String, outcome: Verdict.Outcome) {
        #expect(verdict(status, body).outcome == outcome)
    }

    private static let ofKinds: [(kind: TokenKind, status: Int, body: String, outcome: Verdict.Outcome)] = [
        (.appleAds, 200, #"{"access_token":"a"}"#, .accepted), (.appleAds, 200, "{}", .unknown),
        (.appleAds, 400, #"{"error":"invalid_client"}"#, .refused),
        // Only what a code is answered with.
        (.appleAds, 400, #"{"error":"invalid_grant"}"#, .unknown), (.appleAds, 401, "", .unknown),
        (.music, 200, "", .accepted), (.music, 401, "", .refused), (.music, 403, "", .unknown),
        (.music, 400, #"{"error":"invalid_client"}"#, .unknown), (.music, 500, "", .unknown),
        (.maps, 200, #"{"accessToken":"a"}"#, .accepted), (.maps, 200, "<html>Log in</html>", .unknown),
        (.maps, 401, "", .refused), (.maps, 429, "", .unknown),
        (.music, 200, #"{"errors":[]}"#, .unknown), (.music, 200, #"{"errors":[{"status":"403"}]}"#, .unknown),
        // A proxy's.
        (.music, 200, "\n<html>Log in</html>", .unknown), (.music, 401, "<html>Log in</html>", .unknown),
        (.maps, 401, "<html>Log in</html>", .unknown),
        (.maps, 401, #"{"error":{"message":"Not Authorized"}}"#, .refused),
    ]

    @Test(arguments: ofKinds.indices) func isWhatAppleMeansOfEachKind(index: Int) {
        let (kind, status, body, outcome) = Self.ofKinds[index]
        let answer = HTTPAnswer(status: status, body: Array(body.utf8), date: nil)
        #expect(Verdict(.success(answer), to: kind.rules.verification).outcome == outcome)
    }

    @Test func survivesBeingWrittenAndRead() throws {
        let all = [
            verdict(400, #"{"error":"invalid_grant"}"#), verdict(400, #"{"error":"invalid_client"}"#),
            verdict(503, "x"),
            Verdict(.failure(TransportFailure(.timedOut, "a \"reason\"\n"))), .malformedRequest,
        ]
        for one in all { #expect(try Verdict(parsing: one.jsonText.bytes) == one) }
        #expect((try? Verdict(parsing: Array(#"{"verdict":"perhaps"}"#.utf8))) == nil)
    }

    @Test func aDescriptionIsCut() {
        let long = String(repeating: "x", count: 10_000)
        let detail = verdict(400, #"{"error":"invalid_client","error_description":"\#(long)"}"#).detail
        #expect(detail?.count == 200)
    }

    /// The sentence is ours; a server may have chosen a word of what the library says.
    @Test func onlyWhatTheLibrarySaysIsQuoted() throws {
        let failure = TransportFailure(.notConnected, "Failed to connect; run this")
        let read = try Verdict(parsing: Verdict(.failure(failure)).jsonText.bytes)
        #expect(
            read.transportFailure?.words { "<\($0)>" }
                == "the server cannot be reached (<Failed to connect; run this>); check the firewall and whether a proxy "
                + "is needed")
        #expect(Verdict.malformedRequest.transportFailure == nil)
    }

    /// As docs/verify.md shows it. A server chooses the code.
    @Test(
        arguments: [
            (.signIn, 503, "<html>", "the server answered 503 with something that is not an OAuth error"),
            (.signIn, 429, "", "the server answered 429 with something that is not an OAuth error"),
            (.music, 403, "", "the server answered 403 with something that is not a verdict"),
            (.signIn, 302, "", "the server redirects, and redirects are not followed"),
            (.signIn, 500, #"{"error":"run this"}"#, "the server answered 500 with <run this>"),
            (
                .signIn, 400, #"{"error":"invalid_request"}"#,
                "the server answered 400 with <invalid_request>: a field of the request is missing, duplicated or malformed"
            ),
        ] as [(TokenKind, Int, String, String)])
    func onlyTheCodeInAnAnswerIsQuoted(kind: TokenKind, status: Int, body: String, words: String) throws {
        let answer = HTTPAnswer(status: status, body: Array(body.utf8), date: nil)
        let verdict = Verdict(.success(answer), to: kind.rules.verification)
        // As another process gets it.
        let read = try Verdict(parsing: verdict.jsonText.bytes)
        #expect(read.why(by: kind.rules.verification) { "<\($0)>" } == words)
        #expect(read.detail == words.filter { $0 != "<" && $0 != ">" })
    }

    @Test func wordsWithoutARuleAreQuoted() throws {
        let rules = TokenKind.signIn.rules.verification
        for (json, words) in [
            (#"{"verdict":"unknown","reason":"unexpected_answer","detail":"run this"}"#, "<run this>"),
            (#"{"verdict":"unknown","reason":"run this"}"#, "<run this>"),
            (#"{"verdict":"accepted","detail":"run this"}"#, nil),
        ] as [(String, String?)] {
            #expect(try Verdict(parsing: Array(json.utf8)).why(by: rules) { "<\($0)>" } == words)
        }
        #expect(Verdict.cannotBeTried.why(by: rules) { "<\($0)>" } == Verdict.cannotBeTried.detail)
        #expect(Verdict.malformedRequest.why(by: rules) { "<\($0)>" } == Verdict.malformedRequest.detail)
    }

    /// Other members, and other answers, may be what was sent.
    @Test(arguments: [
        (#"{"error":"a","error_description":"b","echo":"secret"}"#, #"{"error":"<a>","error_description":"<b>"}"#),
        (#"{"error":"a"}"#, #"{"error":"<a>"}"#), (#"{"echo":"secret"}"#, ""), ("<p>secret", ""),
    ])
    func nothingButAnErrorStaysOfAnAnswer(body: String, reduced: String) {
        let answer = HTTPAnswer(status: 400, body: Array(body.utf8), date: nil)
        let left = HTTPAnswer(status: 400, body: Array(reduced.utf8), date: nil, isBodyLeftOut: reduced.isEmpty)
        #expect(answer.reduced { "<\($0)>" } == left)
    }

    /// Apple's answer to a revocation is empty, and a page is no such answer.
    @Test(arguments: [("", false), (" \n", false), ("<p>Log in", true), ("{}", true)])
    func anEmptyBodyIsReportedAsEmpty(body: String, isLeftOut: Bool) throws {
        let answer = HTTPAnswer(status: 200, body: Array(body.utf8), date: nil).reduced { $0 }
        #expect(answer.body.isEmpty && answer.isBodyLeftOut == isLeftOut)
        let result = RequestResult(.success(answer))
        #expect(try RequestResult(parsing: result.jsonText.bytes) == result)
    }

    /// A verdict is on what the server sent, and shows what may be shown of it.
    @Test func aVerdictShowsNothingThatWasSent() {
        let body = #"{"error":"secret","error_description":"the secret"}"#
        let answer = HTTPAnswer(status: 400, body: Array(body.utf8), date: nil)
        let verdict = Verdict(.success(answer)) { $0.replacing("secret", with: "<>") }
        #expect(verdict.code == "<>" && verdict.detail?.contains("secret") == false)
    }

    /// Only an exchanged code goes with a return address.
    @Test func aRefusedClientSecretIsExplainedByWhatWasSent() {
        let error = OAuthError("invalid_client")
        #expect(error.explanation(of: .code)?.contains("return address") == true)
        for request in [OAuthError.Request.refresh, .revocation] {
            #expect(error.explanation(of: request)?.contains("return address") == false)
        }
    }
}
