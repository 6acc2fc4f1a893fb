import Foundation
import TestSupport
import Testing

/// PocketBase itself, and moto's Secrets Manager, which judges signatures as AWS does.
@Suite(.waits, .needs(.venv, .night)) struct RealServiceTests {
    private static let pocketbase = "kind: pocketbase, user: admin@example.com, endpoint: \"ENDPOINT\", TOKEN"
    private static let password = "password-of-the-tests"

    private func settings(_ text: String, of bed: PushBed) -> String {
        text.replacingOccurrences(of: "TOKEN", with: "token_file: \(bed.directory("token"))")
    }

    /// A target at AWS with this secret, and perhaps a field of it.
    private func aws(_ secret: String, _ field: String = "", of bed: PushBed) -> String {
        settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: \(secret)\(field), endpoint: \"ENDPOINT\", TOKEN",
            of: bed)
    }

    /// What a script shows, without its last line's end.
    private func shown(_ script: String, _ bed: PushBed, _ name: String...) throws -> String {
        try runToSuccess([python, PushBed.support + "/push/" + script, bed.directory.path, "show"] + name)
            .trimmingCharacters(in: .newlines)
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
        let target = aws(name, name == "member" ? ", field: apple" : "", of: bed)
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

    /// Two targets with fields of one secret: one write for both.
    @Test func awsWritesFieldsOfOneSecretTogether() throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let keys = try bed.directory.read("keys")
        func target(_ field: String, of name: String = "member") -> String {
            aws(name, ", field: \(field)", of: bed)
        }
        let published = PushBed.Answer(result: "published", verified: true)
        let (web, ios) = (PushBed.secrets[0], PushBed.secrets[1])
        #expect(
            try bed.ask("publish", target("web"), secret: web, token: keys, others: ["ios": (target("ios"), ios)])
                == published)
        let expected = #"{"other": 1.50, "number": 123456789012345678901,"ios":"\#(ios)","web":"\#(web)"}"#
        #expect(try shown("secrets-manager.py", bed, "member") == expected)
        // Its own question finds it there, so that nothing has to wait for ten minutes.
        #expect(
            try bed.ask("publish", target("ios"), secret: ios, token: keys, others: ["web": (target("web"), web)])
                == published)
        #expect(try shown("secrets-manager.py", bed, "member") == expected)
        // What the configuration does not put into this secret does not go there.
        let foreign = try bed.ask(
            "publish", target("web"), secret: ios, token: keys, others: ["ios": (target("ios", of: "plain"), ios)])
        #expect(foreign.code == "push_unconfigured")
        #expect(try shown("secrets-manager.py", bed, "member") == expected)
    }

    @Test func awsRefuses() throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let keys = try bed.directory.read("keys")
        let target = aws("plain", of: bed)
        let forged = keys.replacingOccurrences(of: "SECRET_ACCESS_KEY='", with: "SECRET_ACCESS_KEY='x")
        #expect(try bed.ask("publish", target, token: forged).code == "push_credentials_refused")
        #expect(try bed.ask("publish", target, token: "no keys at all").code == "push_token_unusable")
        #expect(try bed.ask("read", target, token: try bed.directory.read("reader")).holds == false)
        #expect(try bed.ask("publish", target, token: try bed.directory.read("reader")).code == "push_change_refused")
        let missing = target.replacingOccurrences(of: "plain", with: "none")
        #expect(try bed.ask("publish", missing, token: keys).code == "push_place_missing")
        #expect(try shown("secrets-manager.py", bed, "plain") == "eyJ.of.before")
    }

    /// What is there is of another kind, and stays.
    @Test(arguments: [
        ("binary", "", "it is stored as binary"), ("binary", ", field: apple", "it is stored as binary"),
        ("member", "", "an object with number, other"), ("plain", ", field: apple", "it holds no JSON"),
        ("list", ", field: apple", "it holds an array"), ("list", "", "it holds an array, which would be lost"),
        ("text", "", "it holds a text of several lines"),
        ("twice", ", field: apple", "an object with apple twice"), ("nested", ", field: apple", "apple is an object"),
    ])
    func awsKeepsWhatIsOfAnotherKind(name: String, field: String, words: String) throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let target = aws(name, field, of: bed)
        let before = try shown("secrets-manager.py", bed, name)
        let answer = try bed.ask("publish", target, token: try bed.directory.read("keys"))
        #expect(answer.code == "push_place_unsuitable")
        #expect(answer.detail?.contains(words) == true, "\(answer)")
        #expect(try shown("secrets-manager.py", bed, name) == before)
    }

    @Test func pocketBaseWantsASecondFactor() throws {
        let bed = try PushBed(script: "pocketbase.py")
        _ = try run([python, PushBed.support + "/push/pocketbase.py", bed.directory.path, "mfa"])
        let answer = try bed.ask("publish", settings(Self.pocketbase, of: bed), token: Self.password)
        #expect(answer.code == "push_second_factor_wanted")
    }

    @Test func pocketBaseLimitsLogins() throws {
        let bed = try PushBed(script: "pocketbase.py")
        let target = settings(Self.pocketbase, of: bed)
        _ = try run([python, PushBed.support + "/push/pocketbase.py", bed.directory.path, "limit"])
        #expect(try bed.ask("publish", target, token: Self.password).result == "published")
        let limited = try bed.ask("publish", target, secret: PushBed.secrets[1], token: Self.password)
        #expect(limited.code == "push_rate_limited", "\(limited)")
        #expect(try shown("pocketbase.py", bed).hasSuffix(PushBed.secrets[0]))
    }
}
