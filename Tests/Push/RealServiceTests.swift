import Foundation
import TestSupport
import Testing

/// PocketBase itself, and moto's Secrets Manager, which judges signatures as AWS does.
@Suite struct RealServiceTests {
    private static let pocketbase = "kind: pocketbase, user: admin@example.com, endpoint: \"ENDPOINT\", TOKEN"
    private static let password = "password-of-the-tests"

    private func settings(_ text: String, of bed: PushBed) -> String {
        text.replacingOccurrences(of: "TOKEN", with: "token_file: \(bed.directory("token"))")
    }

    /// What a script shows, without its last line's end.
    private func shown(_ script: String, _ bed: PushBed, _ name: String...) throws -> String {
        let finished = try run([python, PushBed.support + "/push/" + script, bed.directory.path, "show"] + name)
        try #require(finished.status == 0, "\(finished.complaints)")
        return finished.output.trimmingCharacters(in: .newlines)
    }

    @Test func pocketBase() throws {
        let bed = try PushBed(script: "pocketbase.py")
        let target = settings(Self.pocketbase, of: bed)
        for secret in PushBed.secrets {
            let published = try bed.ask("publish", target, secret: secret, token: Self.password)
            #expect(published == .init(result: "published"))
            // The other provider has kept its own.
            #expect(
                try shown("pocketbase.py", bed)
                    == "google google-id secret-of-google\napple com.example.web \(secret)")
            #expect(try bed.ask("read", target, secret: secret, token: Self.password) == .init(result: "read"))
        }
        #expect(try bed.ask("publish", target, token: "another").code == "push_credentials_refused")
        for more in ["collection: none", "provider: github", "collection: _externalAuths"] {
            let answer = try bed.ask("publish", "\(target), \(more)", token: Self.password)
            #expect(answer.code == "push_place_missing", "\(more): \(answer)")
        }
        #expect(try shown("pocketbase.py", bed).hasSuffix(PushBed.secrets[1]))
    }

    @Test(arguments: ["plain", "member"])
    func awsSecretsManager(name: String) throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let keys = try bed.directory.read("keys")
        let field = name == "member" ? ", field: apple" : ""
        let target = settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: \(name)\(field), endpoint: \"ENDPOINT\", TOKEN",
            of: bed)
        #expect(try bed.ask("read", target, token: keys) == .init(result: "read", holds: false))
        #expect(try bed.ask("publish", target, token: keys) == .init(result: "published", verified: true))
        // What else is in it is there as it was written.
        let expected =
            name == "plain"
            ? PushBed.secrets[0]
            : #"{"other": 1.50, "number": 123456789012345678901,"apple":"\#(PushBed.secrets[0])"}"#
        #expect(try shown("secrets-manager.py", bed, name) == expected)
        #expect(try bed.ask("read", target, token: keys).holds == true)
        #expect(try bed.ask("read", target, secret: PushBed.secrets[1], token: keys).holds == false)
        // The same one needs no write, and another one has to wait.
        #expect(try bed.ask("publish", target, token: keys) == .init(result: "published", verified: true))
        let early = try bed.ask("publish", target, secret: PushBed.secrets[1], token: keys)
        #expect(early.code == "push_rate_limited")
        #expect((1...600).contains(early.retryAfter ?? 0))
        #expect(try shown("secrets-manager.py", bed, name) == expected)
    }

    @Test func awsRefuses() throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let keys = try bed.directory.read("keys")
        let target = settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: plain, endpoint: \"ENDPOINT\", TOKEN", of: bed)
        let forged = keys.replacingOccurrences(of: "SECRET_ACCESS_KEY='", with: "SECRET_ACCESS_KEY='x")
        #expect(try bed.ask("publish", target, token: forged).code == "push_credentials_refused")
        #expect(try bed.ask("publish", target, token: "no keys at all").code == "push_token_unusable")
        let missing = target.replacingOccurrences(of: "plain", with: "none")
        #expect(try bed.ask("publish", missing, token: keys).code == "push_place_missing")
        #expect(try shown("secrets-manager.py", bed, "plain") == "of before")
    }
}
