import AppleClientSecret
import Digest
import Failures
import Model
import TestSupport
import Testing

@testable import Push

/// What answers of an API mean, whichever request they answer.
@Suite struct PushAnswersTests {
    private static let secret = Token(Array(PushBed.secrets[0].utf8))
    private static let vault = ["mount": "secret", "path": "apps/web", "field": "web", "namespace": ""]
    private static let netlify = ["account": "a", "site": "b", "variable": "SECRET", "context": "production"]
    private static let now = WallTime(secondsSinceEpoch: 1_800_000_000)

    private func publish(
        _ kind: PushKind, _ settings: [String: String], token: String = "t", others: [String: Token] = [:],
        _ answer: (PushHTTPRequest) -> HTTPAnswer
    ) -> PushResult {
        withoutActuallyEscaping(answer) { answer in
            let target = PushTarget(
                name: "production", kind: kind, settings: settings,
                endpoint: kind.isCustom ? "" : "https://api.example.com", caFile: nil, token: nil)
            var exchange = PushExchange(
                PushRoleRequest(.publish, secret: Self.secret), of: target, token: token, others: others
            ) { .success(answer($0)) }
            return exchange.run()
        }
    }

    private func answer(_ status: Int, _ body: String, retryAfter: Int? = nil) -> HTTPAnswer {
        var answer = HTTPAnswer(status: status, body: Array(body.utf8), date: Self.now, receivedAt: Self.now)
        answer.retryAfter = retryAfter
        return answer
    }

    // MARK: Fields of one secret

    /// Each of these targets would otherwise change the version that the others have read.
    @Test func fieldsOfOneVaultSecretAreWrittenTogether() throws {
        let others = ["ios": Token(Array(PushBed.secrets[1].utf8)), "key": Self.secret, "list": Self.secret]
        let pem = #"-----BEGIN PRIVATE KEY-----\nMIGH"#
        let held = #"{"note":1.50,"ios":"old","key":"\#(pem)","list":[1]}"#
        var sent: [String] = []
        _ = publish(.vault, Self.vault, others: others) { request in
            sent += [request.body.map { String(decoding: $0, as: UTF8.self) }].compactMap(\.self)
            return answer(200, #"{"data":{"data":\#(held),"metadata":{"version":3}}}"#)
        }
        // Targets of the other two fields report the problem themselves.
        let written =
            #"{"note":1.50,"ios":"\#(PushBed.secrets[1])","key":"\#(pem)","list":[1],"web":"\#(PushBed.secrets[0])"}"#
        #expect(sent == [#"{"options":{"cas":3},"data":\#(written)}"#])
    }

    // MARK: The second read of a place that is missing

    @Test(
        arguments: [
            (429, #"{"errors":["slow"]}"#, .pushRateLimited), (503, #"{"errors":["sealed"]}"#, .pushServerFailed),
            (301, "", .pushRedirected), (200, "<html>", .pushAnswerUnexpected),
            (404, "<html>", .pushAnswerUnexpected), (400, #"{"errors":["no"]}"#, .pushRejected),
            (403, #"{"errors":["permission denied"]}"#, .pushPlaceMissing),
            (404, #"{"errors":["no"]}"#, .pushPlaceMissing),
        ] as [(Int, String, FailureCode)])
    func aConfirmationIsJudgedLikeAnyAnswer(status: Int, body: String, code: FailureCode) throws {
        for (kind, settings, second) in [
            (PushKind.vault, Self.vault, "/sys/"), (.netlify, Self.netlify, "/sites/"),
        ] {
            let result = publish(kind, settings) { request in
                request.address.description.contains(second)
                    ? answer(status, body, retryAfter: 77) : answer(404, #"{"errors":[]}"#)
            }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == code, "\(kind.name): \(failure)")
            #expect(failure.retryAfter == (status == 200 ? nil : 77))
        }
    }

    // MARK: Answers that cannot be read

    /// The place may hold the secret, and its settings are right.
    @Test func aWriteWithAnAnswerBeyondReadingMayHaveBeenCarriedOut() throws {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let result = publish(.vault, Self.vault) { request in
            request.method == "GET"
                ? answer(200, #"{"data":{"data":{},"metadata":{"version":3}}}"#) : answer(200, #"{"data":\#(deep)}"#)
        }
        guard case .failed(let failure, let moment) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(failure.code == .pushAnswerUnexpected)
        #expect(moment == Self.now)
    }

    // MARK: What is absent

    /// What an API of a user's own may answer where the secret is not there yet, and what another server answers.
    @Test(
        arguments: [
            (404, #"{"message":"none"}"#, true), (200, #"{"a":{}}"#, true), (200, #"{"a":null}"#, false),
            (404, "", true), (404, "<html>", false), (404, "Not Found", false), (404, "[]", false),
            (200, "[]", false), (200, "{}", false), (200, #"{"a":[]}"#, false), (200, #"[{"a":{}}]"#, false),
        ])
    func onlyAMemberOfAnObjectIsAbsent(status: Int, body: String, isWritten: Bool) throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let kind = PushKind.http(
            url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200], read: (url, ["a", "s"]))
        var methods: [String] = []
        let result = publish(kind, [:]) { request in
            methods.append(request.method)
            return request.method == "GET" ? answer(status, body) : answer(200, "")
        }
        #expect(methods.contains("PUT") == isWritten, "\(result)")
        if !isWritten { #expect(result.failure?.code == .pushAnswerUnexpected) }
    }

    /// What a cluster answers, and what a proxy before it.
    @Test(
        arguments: [
            (#"{"kind":"Status","reason":"NotFound"}"#, true), (#"{"kind":"Status","reason":"Forbidden"}"#, false),
            (#"{"message":"no Route matched with those values"}"#, false), ("{}", false),
        ])
    func onlyTheClusterReportsThatASecretIsMissing(body: String, isWritten: Bool) {
        var methods: [String] = []
        let result = publish(.kubernetes, ["namespace": "n", "secret": "s", "key": "k"]) { request in
            methods.append(request.method)
            return request.method == "GET" ? answer(404, body) : answer(200, #"{"kind":"Secret"}"#)
        }
        #expect(methods.contains("PATCH") == isWritten, "\(result)")
        if !isWritten { #expect(result.failure?.code == .pushAnswerUnexpected) }
    }

    @Test(arguments: [("[]", false), (#"[{"s":""}]"#, true), (#"[{"t":""}]"#, true), (#"[1]"#, false)])
    func aListWithoutTheElementIsNoPlace(body: String, isWritten: Bool) throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let kind = PushKind.http(
            url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200], read: (url, ["0", "s"]))
        var methods: [String] = []
        _ = publish(kind, [:]) { request in
            methods.append(request.method)
            return answer(200, body)
        }
        #expect(methods.contains("PUT") == isWritten)
    }

    // MARK: Messages

    /// The names of a token's lines are words of AWS's errors too.
    @Test func onlyTheValuesOfAnAWSTokenAreHidden() throws {
        let token = """
            AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
            AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG
            AWS_REGION=eu-central-1

            """
        let settings = ["region": "eu-central-1", "secret_id": "apple", "field": ""]
        let body =
            #"{"__type":"com.amazonaws#AccessDeniedException","message":"AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI in eu-central-1"}"#
        let result = publish(.awsSecretsManager, settings, token: token) { _ in answer(400, body) }
        let failure = try #require(result.failure)
        #expect(
            failure.detail
                == "it answered 400: com.amazonaws#AccessDeniedException: (secret) in eu-central-1")
    }
}

extension PushResult {
    /// Why it failed, if it did.
    fileprivate var failure: RoleFailure? { if case .failed(let failure, _) = self { failure } else { nil } }
}
