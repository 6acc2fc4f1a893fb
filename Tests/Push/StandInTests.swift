import Foundation
import TestSupport
import Testing

/// The kinds against strict stand-ins that were made from the APIs' public documents.
@Suite(.waits, .needs(.venv)) struct StandInTests {
    /// A kind's target, one whose place is missing, and what can be read back.
    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        let target: String
        let missing: String
        let shown: Shown
        /// The request that writes.
        let write: String

        enum Shown { case value, digest, nothing }

        var testDescription: String { name }
    }

    static let kinds = [
        Kind(
            name: "supabase", target: "kind: supabase, project: abcdefghijklmnopqrst, endpoint: ENDPOINT, CA",
            missing: "kind: supabase, project: other, endpoint: ENDPOINT, CA", shown: .digest, write: "PATCH"),
        Kind(
            name: "vercel",
            target: "kind: vercel, project: shop, team: team_1, variable: APPLE_SECRET, endpoint: ENDPOINT, CA",
            missing: "kind: vercel, project: other, variable: APPLE_SECRET, endpoint: ENDPOINT, CA", shown: .nothing,
            write: "POST"),
        Kind(
            name: "netlify",
            target: "kind: netlify, account: shop, site: site-1, variable: APPLE_SECRET, endpoint: ENDPOINT, CA",
            missing: "kind: netlify, account: shop, site: other, variable: APPLE_SECRET, endpoint: ENDPOINT, CA",
            shown: .nothing, write: "POST"),
        Kind(
            name: "kubernetes", target: "kind: kubernetes, namespace: shop, secret: apple, endpoint: ENDPOINT, CA",
            missing: "", shown: .value, write: "PATCH"),
        Kind(
            name: "vault", target: "kind: vault, path: apps/web, endpoint: ENDPOINT, CA",
            missing: "kind: vault, mount: other, path: apps/web, endpoint: ENDPOINT, CA", shown: .value, write: "POST"),
        Kind(
            name: "http",
            target: """
                kind: http, url: "ENDPOINT/own", headers: {X-Key: "key {{token}}", Content-Type: text/plain}, \
                body: "id={{client_id}}&secret={{client_secret}}", read: {url: "ENDPOINT/own", pointer: /0/oauth/secret}, CA
                """,
            missing: """
                kind: http, url: "ENDPOINT/none", headers: {X-Key: "key {{token}}"}, body: "{{client_secret}}", CA
                """, shown: .value, write: "PUT"),
    ]

    static func target(_ name: String) -> String { kinds.first { $0.name == name }?.target ?? "" }

    @Test(arguments: kinds)
    func setsAndReadsBack(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        let isShown = kind.shown != .nothing
        for secret in PushBed.secrets {
            let published = try api.ask("publish", kind.target, secret: secret)
            #expect(published == .init(result: "published", verified: isShown ? true : nil))
            #expect(api.held == secret)
            #expect(try api.ask("read", kind.target, secret: secret).holds == (isShown ? true : nil))
        }
        // Another one is seen where the value is shown.
        let other = try api.ask("read", kind.target, secret: PushBed.secrets[0])
        #expect(other == .init(result: "read", holds: kind.shown == .value ? false : nil))
    }

    @Test(arguments: kinds)
    func refusedCredentials(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        let answer = try api.ask("publish", kind.target, token: "another-token")
        #expect(answer.code == "push_credentials_refused", "\(answer)")
        #expect(api.held == nil)
    }

    @Test(arguments: kinds.filter { !$0.missing.isEmpty })
    func aPlaceThatIsMissing(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        #expect(try api.ask("publish", kind.missing).code == "push_place_missing")
        #expect(api.held == nil)
    }

    @Test(arguments: kinds)
    func faultsOnTheWayAreNamed(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        // What a user's own API says when it is done is not known.
        let proxysPage: [(String, String, Int?)] =
            kind.name == "http" ? [] : [("garbage", "push_answer_unexpected", nil)]
        for (action, code, seconds) in [
            ("retry=429:70", "push_rate_limited", 70), ("retry=503:5", "push_server_failed", 5),
            ("retry=503:99999999", "push_server_failed", 86_400), ("status=500", "push_server_failed", nil),
            ("redirect", "push_redirected", nil), ("endless", "push_answer_unexpected", nil),
            ("close", "push_answer_unexpected", nil), ("broken", "push_answer_unexpected", nil),
            ("status=418", "push_rejected", nil),
            ("status=402", "push_quota_exceeded", nil),
        ] + proxysPage {
            try api.order("* \(action)")
            let answer = try api.ask("publish", kind.target)
            #expect(answer.code == code, "\(action): \(answer)")
            #expect(answer.retryAfter == seconds, "\(action): \(answer)")
            #expect((answer.detail ?? "").utf8.count < 240)
        }
        try api.order("* silent")
        #expect(try api.ask("publish", kind.target, timeout: 1_500).code == "push_timed_out")
        #expect(api.held == nil)
        // Each was asked once, and nowhere else.
        #expect(api.requests.count == 11 + proxysPage.count, "\(api.requests)")
    }

    /// So that it is put there again. What is missing for another reason is said by the push that follows.
    @Test(arguments: kinds)
    func aPlaceThatIsGoneHoldsNothing(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        _ = try api.ask("publish", kind.target)
        for status in [404, 410] {
            try api.order("GET status=\(status)")
            #expect(try api.ask("read", kind.target) == .init(result: "read", holds: false))
        }
        try api.order("GET status=403")
        #expect(try api.ask("read", kind.target).code == "push_credentials_refused")
    }

    /// It may only be slow to show it.
    @Test(arguments: kinds.filter { $0.shown != .nothing })
    func anAPIThatSaysDoneAndShowsTheOldOneIsNotVerified(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        _ = try api.ask("publish", kind.target)
        try api.order("\(kind.write) lie")
        let answer = try api.ask("publish", kind.target, secret: PushBed.secrets[1])
        #expect(answer == .init(result: "published", verified: false))
    }

    /// The token was taken for reading a moment before.
    @Test(arguments: kinds.filter { $0.name != "http" })
    func aRefusedChangeIsNoRefusedToken(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        for status in [401, 403] {
            try api.order("\(kind.write) status=\(status)")
            let answer = try api.ask("publish", kind.target)
            #expect(answer.code == "push_change_refused")
            #expect(answer.detail?.hasPrefix("it answered \(status): told to say") == true, "\(answer)")
        }
    }

    /// What is there was not read, so nothing is written.
    @Test(arguments: kinds.filter { $0.name != "http" || $0.shown != .nothing })
    func writesNothingAfterAnAnswerOfAnotherForm(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        for answer in ["<html>Welcome</html>", "null", "[]", "\"text\"", "{}", #"{"data": {"dat"#, ""] {
            try api.directory.write(answer, to: "reads")
            let pushed = try api.ask("publish", kind.target)
            // Vault's answer without a version is that of another engine, where there is no such place.
            let other = kind.name == "vault" ? "push_place_missing" : nil
            let codes = ["push_answer_unexpected", "push_place_unsuitable", other]
            #expect(codes.contains(pushed.code), "\(answer): \(pushed)")
        }
        #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
    }

    /// A firewall that drops packets: nothing was sent, and waiting does not help.
    @Test func aServerThatAnswersNoConnectionIsUnreachable() throws {
        let api = try PushBed(script: "stand-in.py")
        // Its queue of connections is full, so the kernel drops what comes.
        let full = try Background([
            python, "-c",
            """
            import socket, sys
            server = socket.create_server(("127.0.0.1", 0), backlog=0)
            others = [socket.socket() for _ in range(4)]
            for other in others:
                other.setblocking(False)
                other.connect_ex(server.getsockname())
            print("127.0.0.1:%d" % server.getsockname()[1], flush=True)
            sys.stdin.read()
            """,
        ])
        let target = "kind: vault, path: apps/web, endpoint: \"http://\(full.firstLine)\", CA"
        let answer = try api.ask("publish", target, timeout: 1_500)
        #expect(answer.code == "push_unreachable")
        #expect(answer.detail == "connection timed out: nothing answered at \(full.firstLine)")
    }

    @Test func retryAfterMayBeADate() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.order("* retry=503:date=3600")
        let seconds = try #require(try api.ask("publish", Self.target("supabase")).retryAfter)
        // The time that the request takes has passed of it.
        #expect((3000...3600).contains(seconds), "\(seconds)")
        try api.order("* retry=503:date=-3600")
        #expect(try api.ask("publish", Self.target("supabase")).retryAfter == 0)
    }

    /// Not the words of whatever else may answer there.
    @Test func theKindOfAnAnswerThatIsNoErrorIsReported() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.order("* raw=500")
        #expect(try api.ask("publish", Self.target("supabase")).detail == "it answered 500 with no JSON")
    }

    /// How it is made is documented nowhere.
    @Test func withAnUnknownDigestASecretOfSupabaseIsUnverified() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write("", to: "other-digest")
        for secret in PushBed.secrets {
            let answer = try api.ask("publish", Self.target("supabase"), secret: secret)
            #expect(answer == .init(result: "published", verified: nil))
        }
    }

    /// A cluster takes from a Secret what its manager does not apply any more.
    @Test func twoKeysOfAKubernetesSecretStay() throws {
        let api = try PushBed(script: "stand-in.py")
        let targets = ["client_secret", "ios"].map { Self.target("kubernetes") + ", key: \($0)" }
        for (target, secret) in zip(targets, PushBed.secrets) {
            #expect(try api.ask("publish", target, secret: secret).verified == true)
        }
        for (target, secret) in zip(targets, PushBed.secrets) {
            #expect(try api.ask("read", target, secret: secret).holds == true)
        }
    }

    /// A cluster takes no longer name of a field manager than 128 characters.
    @Test func aLongKeyOfAKubernetesSecretIsSet() throws {
        let api = try PushBed(script: "stand-in.py")
        for length in [113, 114, 115, 253] {
            let target = Self.target("kubernetes") + ", key: \(String(repeating: "k", count: length))"
            #expect(try api.ask("publish", target).verified == true, "\(length)")
        }
    }

    /// What others have written stays as it is, also what they write meanwhile.
    @Test func vaultKeepsOtherFields() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.order("POST conflict=1")
        let target = "kind: vault, mount: kv/team, path: apps/web, endpoint: ENDPOINT, CA"
        #expect(try api.ask("publish", target) == .init(result: "published", verified: true))
        #expect(
            api.requests == [
                "GET /v1/kv/team/data/apps/web 404", "GET /v1/sys/internal/ui/mounts/kv/team/apps/web 200",
                "POST /v1/kv/team/data/apps/web conflict=1",
                "POST /v1/kv/team/data/apps/web 400", "GET /v1/kv/team/data/apps/web 200",
                "POST /v1/kv/team/data/apps/web conflict=1", "POST /v1/kv/team/data/apps/web 200",
                "GET /v1/kv/team/data/apps/web 200",
            ])
        // Held already: nothing is written.
        #expect(try api.ask("publish", target) == .init(result: "published", verified: true))
        #expect(api.requests.count == 9)
    }

    /// A mount of version 1 reports every path below `data/` as missing, and creates a secret there that nobody reads. Nor is
    /// a path or a mount written as Vault's addresses and its command line have it.
    @Test(arguments: [
        ("mount: old, path: apps/web", "data.options.version is 1, and a KV engine of version 2 is needed"),
        ("mount: transit, path: apps/web", "there is no data.options.version"),
        ("mount: hidden, path: apps/web", "this token cannot see whether the mount is a KV engine of version 2"),
        ("path: data/apps/web", ""), ("path: metadata/apps/web", ""), ("path: secret/apps/web", ""),
        ("mount: secret/data, path: apps/web", ""), ("mount: secret/metadata, path: apps/web", ""),
    ])
    func nothingIsCreatedInVaultElsewhere(settings: String, words: String) throws {
        let api = try PushBed(script: "stand-in.py")
        let answer = try api.ask("publish", "kind: vault, \(settings), endpoint: ENDPOINT, CA")
        #expect(answer.code == "push_place_missing")
        #expect(answer.detail?.contains(words) == true || words.isEmpty, "\(answer)")
        #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
    }

    @Test func anImmutableSecretOfKubernetesIsNotChanged() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write(
            #"{"kind":"Secret","immutable":true,"data":{"client_secret":"b2xk"}}"#, to: "reads")
        #expect(try api.ask("publish", Self.target("kubernetes")).code == "push_immutable")
        #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
        try api.directory.write(#"{"kind":"Secret","data":{"client_secret":"b2xk"}}"#, to: "reads")
        try api.order("PATCH status=422")
        #expect(try api.ask("publish", Self.target("kubernetes")).code == "push_rejected")
        try api.order("PATCH says=422:field is immutable when `immutable` is set")
        #expect(try api.ask("publish", Self.target("kubernetes")).code == "push_immutable")
    }

    /// As the daemon asks after a restart: what it wrote, it repairs.
    @Test func whatTheDaemonWroteIsReplacedAsAWhole() throws {
        let api = try PushBed(script: "stand-in.py")
        let target = "kind: aws_secrets_manager, region: eu-central-1, secret_id: apple, endpoint: ENDPOINT, CA"
        let keys = "AWS_ACCESS_KEY_ID=key\nAWS_SECRET_ACCESS_KEY=secret-of-the-key"
        try api.directory.write("changeme", to: "text")
        #expect(try api.ask("publish", target, token: keys).code == "push_place_unsuitable")
        #expect(api.held == nil)
        #expect(
            try api.ask("publish", target, token: keys, wasWritten: true)
                == .init(result: "published", verified: true))
        #expect(api.held == PushBed.secrets[0])
    }

    @Test func aTargetThatIsNone() throws {
        let api = try PushBed(script: "stand-in.py")
        let answer = try api.ask("publish", "kind: vault, path: ../a, endpoint: ENDPOINT, CA")
        #expect(answer.code == "push_unconfigured")
        #expect(answer.detail?.contains("clientsecretd.yaml:2:") == true, "\(answer)")
        #expect(api.requests == [])
    }
}
