import AppleClientSecret
import Digest
import Failures
import Model
import Testing

@testable import Push

/// Answers with the form of an API that mean something else than that a place is empty.
@Suite struct AnswerFormTests {
    /// What comes of a push where each request is answered so, and the requests' methods and bodies.
    private func publish(
        _ kind: PushKind, _ settings: [String: String] = [:], token: String = "t", reading body: String,
        status: Int = 200, verb: PushRoleRequest.Verb = .publish
    ) -> (result: PushResult, methods: [String], bodies: [String]) {
        var methods: [String] = []
        var bodies: [String] = []
        var exchange = PushExchange(
            PushRoleRequest(verb, secret: Token(Array(PushBed.secrets[0].utf8))),
            of: PushTarget(
                name: "production", kind: kind, settings: settings,
                endpoint: kind.isCustom ? "" : "https://api.example.com", caFile: nil, token: nil),
            token: token, others: [:]
        ) { request in
            methods.append(request.method)
            bodies.append(String(decoding: request.body ?? [], as: UTF8.self))
            return .success(HTTPAnswer(status: status, body: Array(body.utf8), date: nil))
        }
        return (exchange.run(), methods, bodies)
    }

    private func own(_ pointer: [String]) throws -> PushKind {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        return .http(
            url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200], read: (url, pointer))
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
    func whatAnArrayHoldsIsNotWrittenOver(pointer: [String], body: String, words: String) throws {
        let (result, methods, _) = publish(try own(pointer), reading: body)
        #expect(result == .failed(RoleFailure(.pushAnswerUnexpected, words).answered(at: .readURL)), "\(result)")
        #expect(methods == ["GET"])
    }

    @Test(arguments: [
        (["0", "secret"], #"[{"secret":"SECRET"},{"secret":"other"}]"#, true),
        (["1", "secret"], #"[{"secret":"SECRET"},{"secret":"other"}]"#, false),
        (["a", "0"], #"{"a":["SECRET"]}"#, true), (["a", "0"], #"{"a":{"0":"SECRET"}}"#, true),
    ])
    func aPointerLeadsThroughArrays(pointer: [String], body: String, holds: Bool) throws {
        let body = body.replacing("SECRET", with: PushBed.secrets[0])
        guard case .read(let reading) = publish(try own(pointer), reading: body, verb: .read).result else {
            Issue.record("it was not read")
            return
        }
        #expect(reading.holds == holds)
    }

    /// Vercel changes the value for all environments of a variable.
    @Test func aVariableForACustomEnvironmentTooIsNotWritten() throws {
        let settings = ["project": "shop", "team": "", "variable": "SECRET", "environments": #"["production"]"#]
        let variable = #"{"key":"SECRET","target":["production"],"customEnvironmentIds":["env_1"]}"#
        let (result, methods, _) = publish(.vercel, settings, reading: #"{"envs":[\#(variable)]}"#)
        let failure = RoleFailure(
            .pushEnvironmentsConflict, "it is set for env_1, production", placeContent: .something)
        #expect(result == .failed(failure), "\(result)")
        #expect(methods == ["GET"])
    }

    /// Its version is the one that is replaced, and nothing is lost: a version that was deleted can be undeleted.
    @Test func aVersionThatWasDeletedInVaultIsReplacedByANewOne() {
        let deleted =
            #"{"data":{"data":null,"metadata":{"version":3,"deletion_time":"2026-11-29T20:00:00Z","destroyed":false}}}"#
        let settings = ["mount": "secret", "path": "apps/web", "field": "client_secret", "namespace": ""]
        let (_, methods, bodies) = publish(.vault, settings, reading: deleted, status: 404)
        #expect(methods == ["GET", "POST"])
        let expected = #"{"options":{"cas":3},"data":{"client_secret":"\#(PushBed.secrets[0])"}}"#
        #expect(bodies.last == expected)
    }

    /// It can be restored, and is not empty.
    @Test func aSecretThatAWSWillDeleteIsNotWritten() {
        let scheduled =
            #"{"__type":"InvalidRequestException","Message":"You can't perform this operation on the secret because it "#
            + #"was marked for deletion."}"#
        let (result, methods, _) = publish(
            .awsSecretsManager, ["region": "eu-central-1", "secret_id": "apple", "field": ""],
            token: "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n", reading: scheduled, status: 400)
        #expect(methods.count == 1)
        guard case .failed(let failure, _) = result else {
            Issue.record("it was written: \(result)")
            return
        }
        #expect(failure.code == .pushRejected)
        #expect(failure.detail?.contains("was marked for deletion") == true)
    }
}
