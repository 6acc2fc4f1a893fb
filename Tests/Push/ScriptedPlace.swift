import AppleClientSecret
import Digest
import Failures
import Model

@testable import Push

/// A place at an API whose answers a test makes.
struct ScriptedPlace: Sendable {
    let kind: PushKind
    let settings: [String: String]
    var token = "t"
    var redeploys: Bool?

    static let aws = ScriptedPlace(
        kind: .awsSecretsManager, settings: ["region": "eu-central-1", "secret_id": "apple", "field": ""],
        token: "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n")
    static let kubernetes = ScriptedPlace(
        kind: .kubernetes, settings: ["namespace": "n", "secret": "s", "key": "k"])
    static let netlify = ScriptedPlace(
        kind: .netlify, settings: ["account": "a", "site": "b", "variable": "SECRET", "context": "production"])
    static let pocketbase = ScriptedPlace(
        kind: .pocketbase, settings: ["collection": "users", "provider": "apple", "user": "a@example.com"])
    static let supabase = ScriptedPlace(kind: .supabase, settings: ["project": "abcdefghijklmnopqrst"])
    static let vault = ScriptedPlace(
        kind: .vault,
        settings: ["mount": "secret", "path": "apps/web", "field": "client_secret", "namespace": ""])
    static let vercel = ScriptedPlace(
        kind: .vercel,
        settings: ["project": "shop", "team": "", "variable": "SECRET", "environments": #"["production"]"#])

    /// A place of kind `http`, which is read back at this JSON pointer, if there is one.
    static func http(
        _ method: String = "PUT", headers: [PushRequest.Field] = [], reading pointer: [String]? = nil
    ) -> ScriptedPlace {
        guard let url = WebAddress("https://api.example.com/secret") else { preconditionFailure("no address") }
        let kind = PushKind.http(
            url: url, method: method, headers: headers, body: "{{client_secret}}", done: [200],
            read: pointer.map { (url: url, pointer: $0) })
        return ScriptedPlace(kind: kind, settings: [:])
    }

    /// The same with another value of one setting.
    func with(_ name: String, _ value: String) -> ScriptedPlace {
        ScriptedPlace(
            kind: kind, settings: settings.merging([name: value]) { $1 }, token: token, redeploys: redeploys)
    }

    // MARK: Requests

    static let secret = Token(Array(PushBed.secrets[0].utf8))
    /// The time of every answer, and that time so many seconds before.
    static let now = ago(0)
    static func ago(_ seconds: Int64) -> WallTime { WallTime(secondsSinceEpoch: 1_800_000_000 - seconds) }

    static func answer(
        _ status: Int, _ body: String, retryAfter: Int? = nil
    ) -> Result<HTTPAnswer, TransportFailure> {
        var answer = HTTPAnswer(status: status, body: Array(body.utf8), date: now, receivedAt: now)
        answer.retryAfter = retryAfter
        return .success(answer)
    }

    private var target: PushTarget {
        PushTarget(
            name: "production", kind: kind, settings: settings,
            endpoint: kind.isCustom ? "" : "https://api.example.com", caFile: nil, token: nil, redeploys: redeploys)
    }

    /// The result of a request, if the API answers so.
    func exchange(
        _ request: PushRoleRequest, others: [String: Token] = [:],
        _ send: (PushHTTPRequest) -> Result<HTTPAnswer, TransportFailure>
    ) -> PushResult {
        withoutActuallyEscaping(send) { send in
            var exchange = PushExchange(request, of: target, token: token, others: others, send: send)
            return exchange.run()
        }
    }

    /// The same of a secret, if the API answers with these statuses and bodies.
    func ask(
        _ verb: PushRoleRequest.Verb = .publish, _ answer: (PushHTTPRequest) -> (Int, String)
    ) -> PushResult {
        exchange(PushRoleRequest(verb, secret: Self.secret)) { request in
            let (status, body) = answer(request)
            return Self.answer(status, body)
        }
    }

    /// The same, if every answer is this one.
    func ask(_ verb: PushRoleRequest.Verb = .publish, status: Int = 200, body: String) -> PushResult {
        ask(verb) { _ in (status, body) }
    }
}

extension PushHTTPRequest {
    /// Whether it writes to AWS.
    var isPutToAWS: Bool { headers.contains { $0.value == "secretsmanager.PutSecretValue" } }

    /// The body as text; empty if there is none.
    var text: String { String(decoding: body ?? [], as: UTF8.self) }
}

extension PushResult {
    /// Why it failed, if it did.
    var failure: RoleFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

    /// What the API showed, if it showed something.
    var shown: PushPlaceReading? {
        switch self {
        case .published(let reading, _), .read(let reading): reading
        case .redeployed, .failed: nil
        }
    }
}
