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

    /// Two targets with fields of one secret: one write for both.
    @Test func awsWritesFieldsOfOneSecretTogether() throws {
        let bed = try PushBed(script: "secrets-manager.py")
        let keys = try bed.directory.read("keys")
        func target(_ field: String, of name: String = "member") -> String {
            settings(
                "kind: aws_secrets_manager, region: eu-central-1, secret_id: \(name), field: \(field), endpoint: \"ENDPOINT\", TOKEN",
                of: bed)
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
        let target = settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: plain, endpoint: \"ENDPOINT\", TOKEN", of: bed)
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
        let target = settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: \(name)\(field), endpoint: \"ENDPOINT\", TOKEN",
            of: bed)
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

    // MARK: What they do too seldom, by a proxy before them

    /// A proxy before a service, in its directory.
    private func proxy(before bed: PushBed) throws -> PushBed {
        try PushBed([python, PushBed.support + "/push/proxy.py", bed.directory.path, bed.address], in: bed.directory)
    }

    /// What any step may meet: the proxy's action, the failure's code, and when the service wants to be asked again.
    private static let faults: [(action: String, code: String, retryAfter: Int?)] = [
        ("retry=429:70", "push_rate_limited", 70), ("status=429", "push_rate_limited", nil),
        ("retry=503:5", "push_server_failed", 5), ("status=500", "push_server_failed", nil),
        ("status=502", "push_server_failed", nil), ("status=402", "push_quota_exceeded", nil),
        ("silent", "push_timed_out", nil),
    ]

    /// The token counts as refused only where it may not even read.
    private static func refusal(at step: String) -> (action: String, code: String, retryAfter: Int?) {
        let isChange = step.hasPrefix("PATCH") || step.contains("Put")
        return ("status=403", isChange ? "push_change_refused" : "push_credentials_refused", nil)
    }

    private func checkFaults(
        _ faults: [(action: String, code: String, retryAfter: Int?)], at step: String, of service: PushBed,
        by proxy: PushBed, _ target: String, token: String, shown: () throws -> String
    ) throws {
        let before = try shown()
        for (action, code, retryAfter) in faults {
            try service.order("\(step) \(action)")
            // Long enough for the steps before on a busy machine.
            let answer = try proxy.ask(
                "publish", target, secret: PushBed.secrets[1], token: token,
                timeout: action == "silent" ? 4_000 : 30_000)
            #expect(answer.code == code, "\(step) \(action): \(answer)")
            #expect(answer.retryAfter == retryAfter, "\(step) \(action): \(answer)")
        }
        #expect(try shown() == before)
        try service.order("")
    }

    @Test(arguments: ["POST auth-with-password", "GET collections/users", "PATCH collections/users"])
    func pocketBaseWithFaults(step: String) throws {
        let service = try PushBed(script: "pocketbase.py")
        let proxy = try proxy(before: service)
        let target = settings(Self.pocketbase, of: service)
        func held() throws -> String { try shown("pocketbase.py", service) }
        // What version 0.40.0 answers to blanks for the other providers' secrets.
        let blank =
            #"says=400:{"data":{"oauth2":{"providers":{"0":{"clientSecret":{"code":"validation_required","message":"Cannot be blank."}}}}},"message":"Failed to update collection.","status":400}"#
        let more = step.hasPrefix("PATCH") ? [(blank, "push_others_blank", nil as Int?)] : []
        try checkFaults(
            Self.faults + [Self.refusal(at: step)] + more, at: step, of: service, by: proxy, target,
            token: Self.password, shown: held)
        // It was carried out, and nobody said so.
        try service.order("PATCH collections/users lost")
        let unknown = try proxy.ask(
            "publish", target, secret: PushBed.secrets[1], token: Self.password)
        #expect(unknown.code == "push_unreachable", "\(unknown)")
        #expect(try held().hasSuffix(PushBed.secrets[1]))
        try service.order("")
        #expect(
            try proxy.ask("publish", target, secret: PushBed.secrets[1], token: Self.password).result == "published")
        #expect(try held().hasSuffix(PushBed.secrets[1]))
    }

    @Test(arguments: ["POST GetSecretValue", "POST PutSecretValue"])
    func awsWithFaults(step: String) throws {
        let service = try PushBed(script: "secrets-manager.py")
        let proxy = try proxy(before: service)
        let keys = try service.directory.read("keys")
        let target = settings(
            "kind: aws_secrets_manager, region: eu-central-1, secret_id: plain, endpoint: \"ENDPOINT\", TOKEN",
            of: service)
        func held() throws -> String { try shown("secrets-manager.py", service, "plain") }
        let named = [
            ("LimitExceededException", "push_quota_exceeded"), ("ThrottlingException", "push_rate_limited"),
            ("ExpiredTokenException", Self.refusal(at: step).code), ("InternalServiceError", "push_server_failed"),
            ("ResourceNotFoundException", "push_place_missing"),
        ].map { (action: #"says=400:{"__type":"\#($0)","message":"m"}"#, code: $1, retryAfter: nil as Int?) }
        // Where nothing is there to be read, writing tells whether anything can be.
        let faults =
            Self.faults + [Self.refusal(at: step)] + (step.contains("Put") ? named : named.dropLast())
        try checkFaults(faults, at: step, of: service, by: proxy, target, token: keys, shown: held)
        try service.order("POST PutSecretValue lost")
        let unknown = try proxy.ask("publish", target, secret: PushBed.secrets[1], token: keys)
        #expect(unknown.code == "push_unreachable", "\(unknown)")
        #expect(try held() == PushBed.secrets[1])
        // It is seen to be there, and not written again.
        let again = try proxy.ask("publish", target, secret: PushBed.secrets[1], token: keys)
        #expect(again == .init(result: "published", verified: true))
    }
}
