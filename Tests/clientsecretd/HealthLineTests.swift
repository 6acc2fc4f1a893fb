import AppleClientSecret
import Config
import Failures
import Foundation
import Model
import Rotation
import StatusAPI
import TestSupport
import Testing

@testable import clientsecretd

/// The line for monitoring plugins: `SERVICE STATE - words | 'label'=value[unit];warn;crit;min`.
@Suite struct HealthLineTests {
    private let now = StatusJSON.now

    private func document(state: String, reason: String?, failure: String = "null") throws -> Snapshot {
        let web = StatusJSON.client(
            "web", expires: "2026-11-24T04:31:00Z", deliveredExpires: "2026-11-22T04:31:00Z", isDelivered: false)
        return try StatusJSON.snapshot([web], state: state, reason: reason, failure: failure)
    }

    @Test func theDaemonsStateIsTheExitCode() throws {
        for (state, code, word) in [
            ("ok", 0, "OK"), ("degraded", 1, "WARNING"), ("critical", 2, "CRITICAL"),
        ] as [(String, Int32, String)] {
            let line = HealthLine(try document(state: state, reason: nil), now: now)
            #expect(line.state.rawValue == code)
            #expect(
                line.text(now: now).hasPrefix("CLIENTSECRETD \(word) - 1 client, the first secret to expire is web's"))
        }
    }

    @Test func theReasonIsOneLineWithoutABar() throws {
        let line = HealthLine(
            try document(state: "degraded", reason: #"a | b\nsince 2026-11-21T04:29:00Z"#), now: now)
        #expect(
            line.text(now: now)
                == "CLIENTSECRETD WARNING - a / b since 2026-11-21T04:29:00Z (2 minutes ago); 1 client, "
                + "the first secret to expire is web's, in 1 day (2026-11-22T04:31:00Z) | 'web'=86400s;;;0")
    }

    /// A bar, characters that the locale may not have, or many bytes: who pastes it must not run another command.
    @Test(arguments: [
        ("clientsecretd renew web", true), ("a | b", false), ("mkdir '/srv/ü'", false),
        ("mkdir /srv/" + String(repeating: "a", count: 1_600), false),
        // The time in it is not put into words.
        ("mkdir /srv/x since 2026-11-21T04:29:00Z", true),
    ])
    func aCommandIsWholeOrLeftToCheck(command: String, isShown: Bool) throws {
        let failure = """
            {"code":"disk_full","message":"/srv/x: no","since":"2026-11-21T04:29:00Z","next_attempt":null,
             "remedy":"do it: \(command)","command":"\(command)"}
            """
        let reason = "/srv/x: no; since 2026-11-21T04:29:00Z; do it: \(command)"
        let line = HealthLine(try document(state: "degraded", reason: reason, failure: failure), now: now)
        let start = "CLIENTSECRETD WARNING - /srv/x: no; since 2026-11-21T04:29:00Z (2 minutes ago); do it"
        let end = isShown ? ": \(command)" : "; run clientsecretd check as root"
        #expect(line.text(now: now).hasPrefix(start + end + "; 1 client, "))
    }

    private func evaluations(_ offset: Int64) throws -> [OutputsHealth] {
        let configuration = try parsed(
            """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8}}
            clients: {web: {client_id: com.example.web, lifetime: 90s, renew_before: 30s, outputs: [{path: /out/web}]}}
            """
        ).configuration
        let path = try #require(AbsolutePath("/out/web"))
        let key = try #require(KeyName("apple"))
        let print = try #require(KeyDigest(String(repeating: "1", count: 64)))
        let end = (now + 90).secondsSinceEpoch
        let issued = SecretInfo(
            fingerprint: Fingerprint(leadingBytes: 1), claims: .sample(issuedAt: end - 150, expiresAt: end),
            signer: print)
        return configuration.evaluate(
            [path: .success(FileObservation(slots: [.whole: .secret(issued)]))], [key: .key(print)],
            builtAt: now + -86_400,
            at: Now(wall: now + Seconds(offset), boot: BootTime(milliseconds: 0), kernelSynced: true))
    }

    @Test func aDaemonThatDoesNotAnswerIsAWarningAtLeast() throws {
        let good = HealthLine(try evaluations(0), unanswered: "nobody is there", now: now)
        #expect(good.state == .warning)
        #expect(good.words.hasPrefix("nobody is there; published: 1 client, the first"))
        let expired = HealthLine(try evaluations(90), unanswered: "nobody is there", now: now)
        #expect(expired.state == .critical)
        #expect(HealthLine(try evaluations(0), unanswered: nil, now: now).state == .ok)
        #expect(HealthLine(try evaluations(60), unanswered: nil, now: now).state == .warning)
    }

    /// The daemon that does not start has answered with its reason.
    @Test func aReasonThatTheDaemonGaveIsNotRepeated() {
        let why = "/etc/c.yaml:5:15: error: unknown key"
        func words(_ unanswered: String?) -> String { HealthLine.words(unanswered, then: why, after: "refused: ") }
        #expect(words("the daemon does not start: \(why)") == "the daemon does not start: \(why)")
        #expect(words("nobody is there") == "nobody is there; refused: \(why)")
        #expect(words(nil) == "refused: \(why)")
    }

    /// One look at an unlucky moment of a restart is no alarm. A disk that does not respond is one.
    @Test(
        arguments: [
            ("not_checked", 0, true), ("not_checked", 10, true), ("not_checked", -1, true), ("not_checked", 11, false),
            ("not_checked", 3_600, false), ("disk_full", 0, false), (nil, 0, false),
        ] as [(String?, Int64, Bool)])
    func aStartThatIsUnderWayIsWaitedFor(code: String?, age: Int64, isStarting: Bool) throws {
        let failure = code.map { code in
            #"{"code":"\#(code)","message":"it","since":"2026-11-21T04:29:00Z","next_attempt":null,"#
                + #""remedy":null,"command":null}"#
        }
        let snapshot = try StatusJSON.snapshot(
            [
                StatusJSON.client("app"),
                StatusJSON.client(
                    "web", state: failure == nil ? "ok" : "degraded", reason: failure.map { _ in "it" },
                    failure: failure ?? "null"),
            ])
        #expect(snapshot.isStarting(at: snapshot.startedAt + Seconds(age)) == isStarting)
    }

    /// Such as one whose output this user may not read.
    @Test func aClientOfWhichNothingIsKnownHidesNoWarning() throws {
        let name = try #require(ClientName("app"))
        let unknown = OutputsHealth(
            client: name, health: nil, failure: Failure(.noOutputs, at: .client(name)), secret: nil)
        let both = try evaluations(0) + [unknown]
        #expect(HealthLine(both, unanswered: "the daemon is not running", now: now).state == .warning)
        #expect(HealthLine(both, unanswered: nil, now: now).state == .unknown)
        #expect(HealthLine([unknown], unanswered: "the daemon is not running", now: now).state == .unknown)
    }

    @Test func theRemedyForASilentDaemonIsWholeOrLeftToCheck() {
        let restart = "systemctl restart clientsecretd.service"
        let words = HealthLine.words(of: .malformed(what: "no \"state\""))
        #expect(words.hasSuffix("no \"state\"; restart it after an upgrade: \(restart)"))
        #expect(HealthLine(.warning, words).text(now: now) == "CLIENTSECRETD WARNING - \(words)")
        let long = HealthLine.words(of: .malformed(what: String(repeating: "n", count: 600)))
        #expect(long.utf8.count <= 500)
        #expect(long.hasSuffix("nn...; run clientsecretd check as root"))
    }

    /// As many clients as have no room, with the longest names that there are.
    private func manyClients(reason: String) throws -> Snapshot {
        var document = try document(state: "critical", reason: reason)
        let one = document.clients[0]
        let secret = try #require(one.current)
        document.clients = try (0..<500).map { number in
            let claims = Claims(
                issuer: secret.team, keyID: secret.keyID, subject: secret.client, issuedAt: secret.issuedAt,
                expiresAt: now + Seconds(Int64(90_000 - 100 * number)))
            var client = one
            client.name = try #require(
                ClientName("c\(number + 100)".padding(toLength: 64, withPad: "-", startingAt: 0)))
            client.health = number == 400 ? .critical : .degraded
            client.delivered = true
            client.current = SecretInfo(fingerprint: secret.fingerprint, claims: claims, signer: nil)
            return client
        }
        return document
    }

    @Test func hundredsOfClientsFitTheWorstFirst() throws {
        let text = HealthLine(try manyClients(reason: "why"), now: now).text(now: now)
        #expect(text.utf8.count < 4096 && text.utf8.count > 4000)
        func name(_ number: Int) -> String { "c\(number)".padding(toLength: 64, withPad: "-", startingAt: 0) }
        // The critical one, then those that expire first.
        let worst = [name(500)] + (0..<11).map { name(599 - $0) }
        #expect(
            text.hasPrefix(
                "CLIENTSECRETD CRITICAL - why; 500 clients are not ok: \(worst.joined(separator: ", ")) and 488 more; "
                    + "500 clients, the first secret to expire is \(name(599))'s, in 11 hours (2026-11-21T15:39:20Z) | "
                    + "'\(name(500))'=50000s;;;0 '\(name(599))'=40100s;;;0 '\(name(598))'=40200s;;;0 "))
        #expect(text.hasSuffix("s;;;0"))
    }

    /// Nor does a path of the longest kind leave no room for the rest.
    @Test func aLongReasonIsCut() throws {
        let text = HealthLine(try manyClients(reason: String(repeating: "ü", count: 4000)), now: now).text(now: now)
        #expect(text.utf8.count < 4096)
        #expect(text.contains("üü...; 500 clients are not ok: "))
        #expect(text.contains(" | 'c500"))
        #expect(HealthLine(.unknown, String(repeating: "n", count: 9000)).text(now: now).utf8.count < 4096)
    }

    @Test func severalThatAreNotOkAreNamed() throws {
        var document = try manyClients(reason: "why")
        document.clients = Array(document.clients[399...401])
        document.clients[0].name = try #require(ClientName("x"))
        document.clients[1].name = try #require(ClientName("y"))
        document.clients[2].health = .ok
        let words = HealthLine(document, now: now).words
        #expect(words.hasPrefix("why; 2 clients are not ok: y, x; 3 clients, "))
        document.clients[0].health = .ok
        #expect(HealthLine(document, now: now).words.hasPrefix("why; 3 clients, "))
    }

    @Test func nothingToJudgeIsUnknown() {
        #expect(HealthLine([], unanswered: nil, now: now).state == .unknown)
        #expect(HealthLine(.unknown, "no").text(now: now) == "CLIENTSECRETD UNKNOWN - no")
    }
}
