import AppleClientSecret
import Failures
import TestSupport
import Testing

@testable import Push

/// What is asked of an API whose answers a test makes.
@Suite struct PushExchangeTests {
    private static func sha256(_ bytes: [UInt8]) -> [UInt8] { [UInt8](repeating: 1, count: 32) }

    private static let now: Int64 = 1_800_000_000

    /// AWS Secrets Manager with a version that was created so many seconds ago.
    private func publish(
        createdAgo seconds: Int64, version: String, dated isDated: Bool = true
    ) throws -> (result: PushResult, operations: [String]) {
        try publish(created: "\(Self.now - seconds).25", version: version, dated: isDated)
    }

    private func publish(
        created: String, version: String, dated isDated: Bool = true
    ) throws -> (result: PushResult, operations: [String]) {
        let target = PushTarget(
            name: "production", kind: .awsSecretsManager,
            settings: ["region": "eu-central-1", "secret_id": "apple", "field": ""],
            endpoint: "https://secretsmanager.eu-central-1.amazonaws.com", caFile: nil, token: nil)
        let secret = PushBed.secrets[0]
        var held = "eyJ.an.other"
        var operations: [String] = []
        var exchange = PushExchange(
            target: target, token: "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n",
            secret: Token(Array(secret.utf8), sha256: Self.sha256), sha256: Self.sha256
        ) { request in
            let operation = request.headers.first { $0.name == "X-Amz-Target" }?.value ?? ""
            operations.append(String(operation.dropFirst("secretsmanager.".count)))
            if operation.hasSuffix("PutSecretValue") { held = secret }
            let body =
                #"{"Name":"apple","VersionId":"\#(version)","CreatedDate":\#(created),"SecretString":"\#(held)"}"#
            return .success(
                PushHTTPAnswer(
                    status: 200, body: Array(body.utf8),
                    date: isDated ? WallTime(secondsSinceEpoch: Self.now) : nil))
        }
        return (exchange.run(.publish), operations)
    }

    /// A `.p8` can be downloaded only once.
    @Test func aPrivateKeyInTheSecretsPlaceIsNotOverwritten() throws {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
        let target = PushTarget(
            name: "production", kind: .vault,
            settings: ["mount": "secret", "path": "apps/web", "field": "client_secret", "namespace": ""],
            endpoint: "https://vault.example.com", caFile: nil, token: nil)
        for text in [pem, Base64.encode(Array(pem.utf8))] {
            var methods: [String] = []
            var exchange = PushExchange(
                target: target, token: "t", secret: Token(Array(PushBed.secrets[0].utf8), sha256: Self.sha256),
                sha256: Self.sha256
            ) { request in
                methods.append(request.method)
                let held = text.replacing("\n", with: "\\n")
                let body = #"{"data":{"data":{"client_secret":"\#(held)"},"metadata":{"version":3}}}"#
                return .success(PushHTTPAnswer(status: 200, body: Array(body.utf8), date: nil))
            }
            guard case .failed(let failure) = exchange.run(.publish) else {
                Issue.record("it was overwritten")
                continue
            }
            #expect(failure.code == .pushPlaceUnsuitable)
            #expect(methods == ["GET"])
        }
    }

    /// AWS keeps a hundred versions of a secret, and asks for no more than one write in ten minutes.
    @Test func aVersionOfOursStandsForTenMinutes() throws {
        for seconds: Int64 in [0, 1, 599] {
            let (result, operations) = try publish(createdAgo: seconds, version: "clientsecretd-0123")
            guard case .failed(let failure) = result else {
                Issue.record("it was replaced after \(seconds) s")
                continue
            }
            #expect(failure.code == .pushRateLimited)
            #expect(failure.retryAfter == Int(600 - seconds))
            #expect(operations == ["GetSecretValue"])
        }
        let (result, operations) = try publish(createdAgo: 600, version: "clientsecretd-0123")
        #expect(result == .published(verified: true))
        #expect(operations == ["GetSecretValue", "PutSecretValue", "GetSecretValue"])
    }

    /// What an API calls a time may be any number.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "null"])
    func aTimeThatCannotBeDelaysNothing(created: String) throws {
        let (result, _) = try publish(created: created, version: "clientsecretd-0123")
        #expect(result == .published(verified: true))
    }

    /// Nor does a clock that is wrong delay anything for longer.
    @Test func anothersVersionIsReplacedAtOnce() throws {
        #expect(try publish(createdAgo: 1, version: "0123").result == .published(verified: true))
        #expect(try publish(createdAgo: -1, version: "clientsecretd-0123").result == .published(verified: true))
        let undated = try publish(createdAgo: 1, version: "clientsecretd-0123", dated: false)
        #expect(undated.result == .published(verified: true))
    }
}
