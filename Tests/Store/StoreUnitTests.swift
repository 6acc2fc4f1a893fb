import AppleClientSecret
import SignIn
import TestSupport
import Testing

@testable import Store

/// A compact JWS of nobody's; `mark` makes it another one.
func sampleToken(_ mark: String = "a") -> String {
    func part(_ text: String) -> String { String(decoding: Base64URL.encode(Array(text.utf8)), as: UTF8.self) }
    return [
        part(#"{"alg":"ES256","kid":"ABC123DEFG"}"#), part(#"{"iss":"DEF123GHIJ","mark":"\#(mark)"}"#),
        part(String(repeating: "s", count: 64)),
    ].joined(separator: ".")
}

func sampleSlot(_ team: String, _ client: String) -> StoreSlot {
    guard let slot = StoreSlot("\(team)/\(client)/000aff1005060708") else { preconditionFailure("no slot") }
    return slot
}

func token(_ text: String) -> Token { Token(Array(text.utf8), sha256: { _ in [] }) }

@Suite struct StoreSlotTests {
    @Test func aSlotIsNamedByTeamClientAndKey() throws {
        let team = try #require(TeamID("DEF123GHIJ"))
        let client = try #require(ClientID("com.example.web_1"))
        let slot = StoreSlot(team: team, client: client, publicKey: [1, 2]) { bytes in
            #expect(bytes == [1, 2])
            return [0x00, 0x0A, 0xFF, 0x10, 5, 6, 7, 8, 9]
        }
        #expect(slot.description == "DEF123GHIJ/com.example.web_1/000aff1005060708")
        #expect(StoreSlot(slot.description) == slot)
        #expect(
            slot.key(below: "/a")
                == Array("/a/v1/secret/DEF123GHIJ/com.example.web_1/000aff1005060708".utf8))
    }

    @Test(arguments: [
        "", "DEF123GHIJ/a", "DEF123GHIJ/a/000aff100506070", "DEF123GHIJ/a/000AFF1005060708", "def/a/000aff1005060708",
        "DEF123GHIJ/a/b/000aff1005060708", "DEF123GHIJ/a%2Fb/000aff1005060708", "DEF123GHIJ//000aff1005060708",
    ])
    func whatIsNoSlot(text: String) {
        #expect(StoreSlot(text) == nil)
    }
}

@Suite struct StoreValueTests {
    @Test func whatIsWrittenIsRead() throws {
        let bytes = try #require(StoreValue.encode(token(sampleToken())))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"v":1,"token":"\#(sampleToken())"}"#)
        #expect(StoreValue.decode(bytes, revision: 7, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 7))
    }

    @Test func aLaterVersionMayAddNames() {
        let bytes = Array(#"{"v":1,"token":"\#(sampleToken())","more":[1]}"#.utf8)
        #expect(StoreValue.decode(bytes, revision: 1, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 1))
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"v":1}"#, #"{"v":2,"token":"T"}"#, #"{"v":"1","token":"T"}"#, #"{"v":1,"token":7}"#,
        #"{"v":1,"token":"no token"}"#, #"{"v":1,"token":"T","token":"T"}"#, #"{"v":1,"token":"T"}}"#, "T",
    ])
    func whatIsNoValue(text: String) {
        let bytes = Array(
            text.split(separator: "T", omittingEmptySubsequences: false).joined(separator: sampleToken()).utf8)
        #expect(StoreValue.decode(bytes, revision: 3, sha256: { _ in [] }) == .flawed(.notAValue, revision: 3))
    }

    @Test func aLimit() {
        let long = String(repeating: "a", count: StoreValue.longest)
        #expect(StoreValue.encode(token(sampleToken(long))) == nil)
        let length = #"{"v":1,"token":""}"#.utf8.count + sampleToken().utf8.count
        let padding = String(repeating: " ", count: StoreValue.longest - length)
        let bytes = Array(#"{"v":1,"token":"\#(sampleToken())"}\#(padding)"#.utf8)
        #expect(bytes.count == StoreValue.longest)
        #expect(StoreValue.decode(bytes, revision: 1, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 1))
        #expect(StoreValue.decode(bytes + [0x20], revision: 1, sha256: { _ in [] }) == .flawed(.tooLong, revision: 1))
    }
}

@Suite struct Base64Tests {
    @Test(arguments: [([], ""), ([0xFB], "+w=="), ([0xFF, 0xEF], "/+8="), (Array("abc".utf8), "YWJj")])
    func bothWays(bytes: [UInt8], text: String) {
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
    }

    @Test(arguments: ["YWJ", "YWJj=", "-w==", "_+8=", "Y===", "YW Jj", "YWJj\n", "YR=="])
    func nothingElse(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}

@Suite struct StoreMessageTests {
    private static let slot = "DEF123GHIJ/com.example.web/000aff1005060708"

    private let rollout = StoredRollout(
        fingerprint: Fingerprint(leadingBytes: 7), admitted: .max, isHeld: true, tolerated: 3)

    @Test func questionsAreRead() throws {
        let slot = try #require(StoreSlot(Self.slot))
        for question in [
            StoreQuestion.read([slot]), .put(slot, token(sampleToken()), ifAt: 7),
            .putRollout(rollout, of: slot, ifAt: 3, with: nil),
            .putRollout(rollout, of: slot, ifAt: 0, with: .init(token(sampleToken()), ifAt: 7)),
            .putReport("\"a\"", machine: "app 17", ifAt: 0), .readReports(from: nil), .readReports(from: [1, 2]),
            .forgetReport(machine: "app17", ifAt: 3),
        ] {
            #expect(StoreQuestion(request: question.request, sha256: { _ in [] }) == question)
        }
    }

    @Test(arguments: [
        "", "[]", #"{"do":"read"}"#, #"{"do":"read","slots":[]}"#, #"{"do":"read","slots":["S","S"]}"#,
        #"{"do":"read","slots":["S",7]}"#, #"{"do":"burn","slots":["S"]}"#,
        #"{"do":"put","slot":"S","token":"no token","revision":0}"#, #"{"do":"put","slot":"S","token":"T"}"#,
        #"{"do":"put","slot":"S","token":"T","revision":-1}"#, #"{"do":"put","slot":"S/","token":"T","revision":0}"#,
    ])
    func whatIsNoQuestion(text: String) {
        let text = text.split(separator: "S", omittingEmptySubsequences: false).joined(separator: Self.slot)
            .split(separator: "T", omittingEmptySubsequences: false).joined(separator: sampleToken())
        #expect(StoreQuestion(request: Array(text.utf8), sha256: { _ in [] }) == nil)
    }

    @Test func answersAreRead() {
        let findings: [StoreFinding] =
            [.missing, .forbidden, .token(token(sampleToken()), revision: 9)]
            + StoreFinding.Flaw.allCases.map { .flawed($0, revision: .max) }
        let failures = StoreFailure.Code.allCases.map {
            StoreResult.failed(StoreFailure($0, $0 == .timedOut ? nil : "why", retryAfter: $0 == .timedOut ? 7 : nil))
        }
        let report = StoredReport(machine: "app17", value: "{}", revision: 3)
        let reports: [StoreResult] = [
            .reportFound(nil), .reportFound(report), .reports([], next: nil), .reports([report], next: [1]),
            .reports([StoredReport(machine: "a", value: nil, revision: 1)], next: nil), .reportForgotten,
        ]
        let held = RolloutFinding.rollout(rollout, revision: 9)
        let rollouts: [StoreResult] = [
            .read(findings, rollouts: [0: held, 1: .forbidden, 3: .flawed(revision: 4)]),
            .rolloutFound(nil, secret: nil), .rolloutFound(held, secret: .missing),
            .rolloutFound(.flawed(revision: 1), secret: findings[2]),
        ]
        for result in rollouts {
            #expect(StoreResult(answer: result.answer.bytes, sha256: { _ in [] }) == result)
        }
        for result in [.read(findings), .put(revision: 5)] + reports + findings.map(StoreResult.conflict) + failures {
            #expect(StoreResult(answer: result.answer.bytes, sha256: { _ in [] }) == result)
        }
        for text in [
            "", "{}", #"{"result":"failed","code":"disk_full"}"#, #"{"result":"put"}"#,
            #"{"result":"read","values":[{"state":"held"}]}"#, #"{"result":"conflict","value":{"state":"other"}}"#,
        ] {
            #expect(StoreResult(answer: Array(text.utf8), sha256: { _ in [] }) == nil)
        }
        let expiry = WallTime(secondsSinceEpoch: 1_800_000_000)
        for expiresAt in [expiry, nil] {
            let answer = StoreAnswer(.put(revision: 5), certificateExpiresAt: expiresAt)
            #expect(StoreAnswer(line: answer.line.bytes, sha256: { _ in [] }) == answer)
        }
        for notice in StoreNotice.allCases { #expect(StoreNotice(line: notice.line.bytes) == notice) }
    }
}

@Suite struct StoredRolloutTests {
    private func finding(_ text: String) -> RolloutFinding { StoredRollout.decode(Array(text.utf8), revision: 3) }

    @Test func whatIsWrittenIsRead() {
        for isHeld in [false, true] {
            for admitted in [0, 255, UInt64.max] {
                let rollout = StoredRollout(
                    fingerprint: Fingerprint(leadingBytes: 7), admitted: admitted, isHeld: isHeld, tolerated: 2)
                #expect(StoredRollout.decode(rollout.json.bytes, revision: 3) == .rollout(rollout, revision: 3))
            }
        }
    }

    @Test func asTheGuideWritesIt() {
        let rollout = StoredRollout(
            fingerprint: Fingerprint(leadingBytes: 7), admitted: 255, isHeld: false, tolerated: 0)
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","tolerated":0}"#
        #expect(rollout.json.rendered == text)
        // Another program, or a later version.
        #expect(
            finding(text.replacing(#","tolerated":0"#, with: #","more":[1]"#)) == .rollout(rollout, revision: 3))
    }

    @Test(arguments: [
        ("", ""), ("\"v\":1", "\"v\":2"), ("\"v\":1,", ""), ("\"v\":1", "\"v\":1,\"v\":1"), ("sha256:", ""),
        ("00000000000000ff", "ff"), ("00000000000000ff", "00000000000000FF"), ("00000000000000ff", "-0000000000000ff"),
        ("\"00000000000000ff\"", "255"), ("going", "gone"), ("\"tolerated\":0", "\"tolerated\":-1"),
        ("\"tolerated\":0", "\"tolerated\":\"0\""), ("}", ""),
    ])
    func anythingElseAdmitsNobody(part: String, other: String) {
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","tolerated":0}"#
        #expect(finding(part.isEmpty ? "" : text.replacing(part, with: other)) == .flawed(revision: 3))
    }

    @Test func whatIsTooLongIsNotLookedAt() {
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","x":"\#(String(repeating: "y", count: 16_384))"}"#
        #expect(finding(text) == .flawed(revision: 3))
    }
}

@Suite struct WatchStreamTests {
    private func receive(_ text: String, into stream: inout WatchStream) -> WatchStream.State {
        stream.receive(Array(text.utf8))
    }

    @Test func itTellsOfChangesOnceAllIsWatched() {
        var stream = WatchStream(keys: 2)
        #expect(receive(#"{"result":{"header":{},"created":true}}"# + "\n", into: &stream) == .quiet)
        #expect(!stream.isComplete)
        #expect(receive(#"{"result":{"header":{},"watch_id":"1","#, into: &stream) == .quiet)
        #expect(receive(#""created":true}}"# + "\n", into: &stream) == .quiet)
        #expect(stream.isComplete)
        #expect(receive(#"{"result":{"header":{},"events":[{"kv":{}}]}}"# + "\n", into: &stream) == .changed)
    }

    @Test(arguments: [
        #"{"result":{"created":true,"canceled":true,"cancel_reason":"permission denied"}}"# + "\n",
        #"{"result":{"canceled":true,"compact_revision":"7"}}"# + "\n",
        #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}"# + "\n", "<html>\n",
        String(repeating: "x", count: 70_000),
    ])
    func itEnds(text: String) {
        var stream = WatchStream(keys: 1)
        #expect(receive(text, into: &stream) == .ended)
    }
}

@Suite struct MembersTests {
    @Test func anotherMemberAfterEachFailureAndThenAPause() {
        var members = Members(count: 3, at: 0) { _ in 0 }
        #expect(members.current == 0)
        members.loggedIn("t")
        let most: (Int64) -> Int64 = { $0 - 1 }
        var bounds: [Int64] = []
        var now: Int64 = 0
        for round in 0..<12 {
            let second = members.memberFailed(at: now, random: most)
            #expect(members.token == nil)
            let third = members.memberFailed(at: now, random: most)
            #expect(members.pause(at: now) == 0)
            let fourth = members.memberFailed(at: now, random: most)
            #expect([second, third, fourth] == [true, true, false])
            #expect(members.current == 0, "round \(round)")
            bounds.append(members.pause(at: now))
            now += members.pause(at: now)
            #expect(members.pause(at: now) == 0)
        }
        #expect(bounds.prefix(4) == [1_000, 2_000, 4_000, 8_000])
        #expect(bounds.max() == 300_000)
        #expect(bounds.last == 300_000)
        members.succeeded()
        members.refused(at: now, random: most)
        #expect(members.pause(at: now) == 1_000)
    }

    @Test func pausesAreRandomFromNothingOn() {
        var members = Members(count: 1, at: 0) { _ in 0 }
        _ = members.memberFailed(at: 0) { _ in 0 }
        #expect(members.pause(at: 0) == 0)
    }

    @Test func loginsWaitLonger() {
        var members = Members(count: 2, at: 0) { _ in 0 }
        var bounds: [Int64] = []
        for number in 1...12 {
            members.loginFailed(at: 0) { $0 - 1 }
            #expect(members.current == number % 2)
            bounds.append(members.pause(at: 0))
        }
        #expect(bounds.prefix(2) == [10_000, 20_000])
        #expect(bounds.last == 3_600_000)
        members.loggedIn("t")
        members.loginFailed(at: 0) { $0 - 1 }
        #expect(members.pause(at: 0) == 10_000)
    }

    @Test func anotherMemberEachHour() {
        var members = Members(count: 2, at: 0) { bound in bound == 2 ? 1 : 600_000 }
        #expect(members.current == 1)
        members.loggedIn("t")
        members.begin(at: 2_999_999)
        #expect(members.current == 1)
        members.begin(at: 3_000_000)
        #expect(members.current == 0)
        #expect(members.token == nil)
        members.begin(at: 6_599_999)
        #expect(members.current == 0)
        members.begin(at: 6_600_000)
        #expect(members.current == 1)
    }
}

@Suite struct StoredReportTests {
    @Test(arguments: ["app17", "a.b-c_d", "ä b/c%", String(repeating: "x", count: 253)])
    func aMachineIsFoundByItsKey(machine: String) {
        let key = StoredReport.key(of: machine, below: "/p")
        #expect(key.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(StoredReport.machine(of: key, below: "/p") == machine)
        let keys = StoredReport.keys(below: "/p")
        #expect(keys.first.lexicographicallyPrecedes(key) && key.lexicographicallyPrecedes(keys.end))
    }

    @Test(arguments: [
        "/p/v1/host/", "/p/v1/host/a/b", "/p/v1/host/%61", "/p/v1/host/a%0A", "/p/v1/host/%", "/p/v1/host/a%2",
        "/p/v1/host/a%2f", "/p/v1/host/%FF", "/q/v1/host/a", "/p/v1/hosta",
        "/p/v1/host/" + String(repeating: "x", count: 254),
    ])
    func whatIsNoMachinesKey(key: String) {
        #expect(StoredReport.machine(of: Array(key.utf8), below: "/p") == nil)
    }
}
