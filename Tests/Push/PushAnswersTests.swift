import AppleClientSecret
import Digest
import Failures
import Model
import TestSupport
import Testing

@testable import Push

/// What answers of an API mean, whichever request they answer.
@Suite struct PushAnswersTests {
    private typealias Place = ScriptedPlace

    /// Whether anything is written to a place that is answered so, and the result.
    private func write(
        to place: Place, reading status: Int, _ body: String, writing answer: String
    ) -> (isWritten: Bool, result: PushResult) {
        var isWritten = false
        let result = place.ask { request in
            if request.method == "GET" { return (status, body) }
            isWritten = true
            return (200, answer)
        }
        return (isWritten, result)
    }

    // MARK: Fields of one secret

    /// Each of these targets would otherwise change the version that the others have read.
    @Test func fieldsOfOneVaultSecretAreWrittenTogether() throws {
        let others = ["ios": Token(Array(PushBed.secrets[1].utf8)), "key": Place.secret, "list": Place.secret]
        let pem = #"-----BEGIN PRIVATE KEY-----\nMIGH"#
        let held = #"{"note":1.50,"ios":"old","key":"\#(pem)","list":[1]}"#
        var sent: [String] = []
        let request = PushRoleRequest(.publish, secret: Place.secret)
        _ = Place.vault.with("field", "web").exchange(request, others: others) { request in
            if request.body != nil { sent.append(request.text) }
            return Place.answer(200, #"{"data":{"data":\#(held),"metadata":{"version":3}}}"#)
        }
        // Targets of the other two fields report the problem themselves.
        let written =
            #"{"note":1.50,"ios":"\#(PushBed.secrets[1])","key":"\#(pem)","list":[1],"web":"\#(PushBed.secrets[0])"}"#
        #expect(sent == [#"{"options":{"cas":3},"data":\#(written)}"#])
    }

    /// What one client finds in its field is no reason to keep another one's secret out.
    @Test func fieldsOfOneAWSSecretAreWrittenTogether() throws {
        let others = ["ios": Token(Array(PushBed.secrets[1].utf8)), "key": Place.secret, "list": Place.secret]
        let pem = #"-----BEGIN PRIVATE KEY-----\nMIGH"#
        let held = #"{"note":1.50,"ios":"old","key":"\#(pem)","list":[1]}"#
        var sent: [String] = []
        func push(_ field: String) -> PushResult {
            Place.aws.with("field", field).exchange(
                PushRoleRequest(.publish, secret: Place.secret), others: others.filter { $0.key != field }
            ) { request in
                if request.isPutToAWS {
                    sent.append((try? JSONValue(request.body ?? []))?["SecretString"]?.text ?? request.text)
                }
                let text = JSONText.string(held).rendered
                return Place.answer(200, #"{"Name":"apple","VersionId":"0123","SecretString":\#(text)}"#)
            }
        }
        _ = push("web")
        let written =
            #"{"note":1.50,"ios":"\#(PushBed.secrets[1])","key":"\#(pem)","list":[1],"web":"\#(PushBed.secrets[0])"}"#
        #expect(sent == [written])
        // Targets of the other two fields report the problem themselves.
        for (field, detail) in [
            ("key", "it holds a private key, which is never overwritten"), ("list", "list is an array there"),
        ] {
            let failure = try #require(push(field).failure)
            #expect(failure.code == .pushPlaceUnsuitable && failure.detail == detail)
        }
        #expect(sent.count == 1)
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
        for (place, second) in [(Place.vault, "/sys/"), (.netlify, "/sites/")] {
            let result = place.exchange(PushRoleRequest(.publish, secret: Place.secret)) { request in
                request.address.description.contains(second)
                    ? Place.answer(status, body, retryAfter: 77) : Place.answer(404, #"{"errors":[]}"#)
            }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == code, "\(place.kind.name): \(failure)")
            #expect(failure.retryAfter == (status == 200 ? nil : 77))
        }
    }

    // MARK: Answers that cannot be read

    /// The place may hold the secret, and its settings are right.
    @Test func aWriteWithAnAnswerBeyondReadingMayHaveBeenCarriedOut() {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let (_, result) = write(
            to: .vault, reading: 200, #"{"data":{"data":{},"metadata":{"version":3}}}"#, writing: #"{"data":\#(deep)}"#)
        #expect(result.failure?.code == .pushAnswerUnexpected)
        #expect(result.writtenAt == Place.now)
    }

    // MARK: What is absent

    /// What an API of a user's own may answer where the secret is not there yet, and what another server answers.
    @Test(
        arguments: [
            (404, #"{"message":"none"}"#, true), (200, #"{"a":{}}"#, true), (200, #"{"a":null}"#, false),
            (404, "", true), (404, "<html>", false), (404, "Not Found", false), (404, "[]", false),
            (200, "[]", false), (200, "{}", false), (200, #"{"a":[]}"#, false), (200, #"[{"a":{}}]"#, false),
        ])
    func onlyAMemberOfAnObjectIsAbsent(status: Int, body: String, isWritten: Bool) {
        let found = write(to: .http(reading: ["a", "s"]), reading: status, body, writing: "")
        #expect(found.isWritten == isWritten, "\(found.result)")
        if !isWritten { #expect(found.result.failure?.code == .pushAnswerUnexpected) }
    }

    /// What a cluster answers, and what a proxy before it.
    @Test(
        arguments: [
            (#"{"kind":"Status","reason":"NotFound"}"#, true), (#"{"kind":"Status","reason":"Forbidden"}"#, false),
            (#"{"message":"no Route matched with those values"}"#, false), ("{}", false),
        ])
    func onlyTheClusterReportsThatASecretIsMissing(body: String, isWritten: Bool) {
        let found = write(to: .kubernetes, reading: 404, body, writing: #"{"kind":"Secret"}"#)
        #expect(found.isWritten == isWritten, "\(found.result)")
        if !isWritten { #expect(found.result.failure?.code == .pushAnswerUnexpected) }
    }

    @Test(arguments: [("[]", false), (#"[{"s":""}]"#, true), (#"[{"t":""}]"#, true), (#"[1]"#, false)])
    func aListWithoutTheElementIsNoPlace(body: String, isWritten: Bool) {
        let found = write(to: .http(reading: ["0", "s"]), reading: 200, body, writing: body)
        #expect(found.isWritten == isWritten, "\(found.result)")
    }

    // MARK: Messages

    /// The names of a token's lines are words of AWS's errors too.
    @Test func onlyTheValuesOfAnAWSTokenAreHidden() {
        var place = Place.aws
        place.token = """
            AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
            AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG
            AWS_REGION=eu-central-1

            """
        let body =
            #"{"__type":"com.amazonaws#AccessDeniedException","message":"AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI in eu-central-1"}"#
        #expect(
            place.ask(status: 400, body: body).failure?.detail
                == "it answered 400: com.amazonaws#AccessDeniedException: (secret) in eu-central-1")
    }

    // MARK: The form of an answer

    /// What is asked of an API that gives each request this answer: the result, and the requests' methods and bodies.
    private func publish(
        _ place: Place, status: Int = 200, reading body: String
    ) -> (result: PushResult, methods: [String], bodies: [String]) {
        var methods: [String] = []
        var bodies: [String] = []
        let result = place.ask { request in
            methods.append(request.method)
            bodies.append(request.text)
            return (status, body)
        }
        return (result, methods, bodies)
    }

    /// What is there is looked for and judged in one place: a number in the pointer is an element's.
    @Test(arguments: [
        (["0", "secret"], #"[{"secret":{"a":1}}]"#, "0.secret is an object"),
        (["0", "secret"], #"[{"secret":7},{"secret":"x"}]"#, "0.secret is a number"),
        (["0", "secret"], #"["changeme"]"#, "0 is a text"),
        (["secret"], #"[{"secret":"x"},{"secret":"y"}]"#, "the answer is an array"),
        (["secret"], #"[{"secret":"x"}]"#, "the answer is an array"),
        (["a", "secret"], #"{"a":[]}"#, "a is an array"),
        (["1"], #"["x"]"#, "there is no 1: the answer is an array"),
        (["a", "0"], #"{"a":null}"#, "a is null"), (["-0"], #"["x"]"#, "the answer is an array"),
        (["01"], #"["x","y"]"#, "the answer is an array"),
    ])
    func whatAnArrayHoldsIsNotWrittenOver(pointer: [String], body: String, words: String) {
        let (result, methods, _) = publish(.http(reading: pointer), reading: body)
        #expect(result == .failed(RoleFailure(.pushAnswerUnexpected, words)), "\(result)")
        #expect(methods == ["GET"])
    }

    @Test(arguments: [
        (["0", "secret"], #"[{"secret":"SECRET"},{"secret":"other"}]"#, true),
        (["1", "secret"], #"[{"secret":"SECRET"},{"secret":"other"}]"#, false),
        (["a", "0"], #"{"a":["SECRET"]}"#, true), (["a", "0"], #"{"a":{"0":"SECRET"}}"#, true),
    ])
    func aPointerLeadsThroughArrays(pointer: [String], body: String, holds: Bool) {
        let result = Place.http(reading: pointer).ask(
            .read, body: body.replacing("SECRET", with: PushBed.secrets[0]))
        #expect(result.shown?.holds == holds, "\(result)")
    }

    /// Vercel changes the value for all environments of a variable.
    @Test func aVariableForACustomEnvironmentTooIsNotWritten() {
        let variable = #"{"key":"SECRET","target":["production"],"customEnvironmentIds":["env_1"]}"#
        let (result, methods, _) = publish(.vercel, reading: #"{"envs":[\#(variable)]}"#)
        let failure = RoleFailure(
            .pushEnvironmentsConflict, "it is set for env_1, production", placeContent: .something)
        #expect(result == .failed(failure), "\(result)")
        #expect(methods == ["GET"])
    }

    /// Its version is the one that is replaced, and nothing is lost: a version that was deleted can be undeleted.
    @Test func aVersionThatWasDeletedInVaultIsReplacedByANewOne() {
        let deleted =
            #"{"data":{"data":null,"metadata":{"version":3,"deletion_time":"2026-11-29T20:00:00Z","destroyed":false}}}"#
        let (_, methods, bodies) = publish(.vault, status: 404, reading: deleted)
        #expect(methods == ["GET", "POST"])
        let expected = #"{"options":{"cas":3},"data":{"client_secret":"\#(PushBed.secrets[0])"}}"#
        #expect(bodies.last == expected)
    }

    /// It can be restored, and is not empty.
    @Test func aSecretThatAWSWillDeleteIsNotWritten() {
        let scheduled =
            #"{"__type":"InvalidRequestException","Message":"You can't perform this operation on the secret because it "#
            + #"was marked for deletion."}"#
        let (result, methods, _) = publish(.aws, status: 400, reading: scheduled)
        #expect(methods.count == 1)
        #expect(result.failure?.code == .pushRejected)
        #expect(result.failure?.detail?.contains("was marked for deletion") == true)
    }
}
