import AppleClientSecret
import Digest
import Failures
import Model

@testable import Push

/// An API that answers with the lines of the input, each a status and a body: what it says does not get the secret or the
/// token shown, what it does not show is not verified, and what else it held is written back.
enum PushAnswersTarget {
    private static let secret = OutputTarget.secret
    private static let token = "token-of-the-fuzzer"
    private static let settings = [
        "project": "abc", "team": "", "variable": "SECRET", "environments": #"["production"]"#, "user": "a@example.com",
        "collection": "users", "provider": "apple", "namespace": "", "secret": "web", "key": "client_secret",
        "mount": "secret", "path": "web", "field": "client_secret", "region": "eu-central-1", "secret_id": "web",
        "account": "a", "site": "b", "context": "production",
    ]

    static func run(_ bytes: [UInt8]) throws {
        // The same bytes mean the secret itself where they say so.
        let lines = bytes.replacing(Array("SECRET".utf8), with: Array(secret.utf8)).split(separator: UInt8(ascii: "\n"))
        for kind in PushKind.all {
            for verb in [PushRoleRequest.Verb.publish, .read] { try run(kind, verb, lines.map(answer)) }
        }
    }

    private static func answer(_ line: ArraySlice<UInt8>) -> HTTPAnswer {
        let status = Int(String(decoding: line.prefix(3), as: UTF8.self)) ?? 200
        return HTTPAnswer(status: status, body: Array(line.dropFirst(4)), date: nil)
    }

    private static func run(_ kind: PushKind, _ verb: PushRoleRequest.Verb, _ answers: [HTTPAnswer]) throws {
        let isAWS = kind.name == "aws_secrets_manager"
        let token = isAWS ? "AWS_ACCESS_KEY_ID=key\nAWS_SECRET_ACCESS_KEY=\(token)\n" : token
        let target = Push.PushTarget(
            name: "production", kind: kind, settings: settings, endpoint: "https://api.example.com", caFile: nil,
            token: nil)
        var rest = answers[...]
        var exchanged: [(request: PushHTTPRequest, answer: HTTPAnswer)] = []
        var exchange = PushExchange(
            PushRoleRequest(verb, secret: Token(Array(secret.utf8))), of: target, token: token, others: [:]
        ) { request in
            guard let answer = rest.popFirst() else { return .failure(TransportFailure(.timedOut, "")) }
            exchanged.append((request, answer))
            return .success(answer)
        }
        let result = exchange.run()
        try checkReadBack(result)
        for body in exchanged.compactMap({ $0.request.body }) {
            try promise((try? JSONValue(body)) != nil, "\(kind.name): a request that is no JSON")
        }
        try checkWhatIsKept(exchanged, of: kind)
        switch result {
        case .failed(let failure, _):
            for hidden in [secret, Self.token] + secret.split(separator: ".").map(String.init) {
                try promise(failure.detail?.contains(hidden) != true, "\(kind.name): shown in \(failure.detail ?? "")")
            }
            try Shown.check(failure.detail ?? "")
        case .published(let reading, _) where reading.holds == true, .read(let reading) where reading.holds == true:
            let body = exchanged.last?.answer.body ?? []
            let json = try JSONValue(body)
            try promise(shows(json), "\(kind.name): verified by an answer that does not show it")
        default: break
        }
    }

    /// Whether the secret stands in it as it is, in base64, as its digest or in a document.
    private static func shows(_ json: JSONValue) -> Bool {
        switch json {
        case .string(let text):
            text == secret || text == Base64.encode(Array(secret.utf8)) || text.utf8.count == 64
                || (try? JSONValue(Array(text.utf8))).map(shows) == true
        case .array(let elements): elements.contains(where: shows)
        case .object(let members): members.values.contains(where: shows)
        default: false
        }
    }

    /// Vault's KV and AWS's documents hold others' members too.
    private static func checkWhatIsKept(
        _ exchanged: [(request: PushHTTPRequest, answer: HTTPAnswer)], of kind: PushKind
    ) throws {
        for (read, write) in zip(exchanged, exchanged.dropFirst()) where read.answer.status == 200 {
            guard let body = write.request.body,
                let written = document(of: kind, try JSONValue(body), ["data"]),
                let found = document(of: kind, try JSONValue(read.answer.body), ["data", "data"])
            else { continue }
            var wanted = found
            wanted["client_secret"] = .string(secret)
            try promise(written == wanted, "\(kind.name): what else was there is not written back")
        }
    }

    private static func document(of kind: PushKind, _ json: JSONValue, _ pointer: [String]) -> [String: JSONValue]? {
        let document: JSONValue? =
            switch kind.name {
            case "vault": json[pointer]
            case "aws_secrets_manager":
                json["SecretString"]?.text.flatMap { try? JSONValue(Array($0.utf8)) }
            default: nil
            }
        guard case .object(let members)? = document else { return nil }
        return members
    }
}
