import AppleClientSecret
import Failures
import Testing

@testable import Store

@Suite struct StoreMessageTests {
    private static let slot = "DEF123GHIJ/com.example.web/000aff1005060708"

    private let rollout = StoredRollout(
        secret: SecretName(Fingerprint(leadingBytes: 7)), admitted: .max, isHeld: true, tolerated: 3)

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

    /// A version of the daemon and another of the role understand each other by these.
    @Test func aFailureIsNamedLikeTheCodeOfTheTable() {
        let codes = FailureCode.allCases.filter { $0.rawValue.hasPrefix("store_") }
        #expect(codes.allSatisfy { $0.traits.contains(.ofStore) })
        let answer = StoreResult.failed(RoleFailure(.storeServerUntrusted)).answer.rendered
        #expect(
            answer.contains(#""code": "store_server_untrusted""#)
                || answer.contains(#""code":"store_server_untrusted""#))
    }

    @Test func answersAreRead() {
        let findings: [StoreFinding] =
            [.missing, .forbidden, .token(token(sampleToken()), revision: 9)]
            + StoreFinding.Flaw.allCases.map { .flawed($0, revision: .max) }
        let failures = FailureCode.allCases.filter { $0.rawValue.hasPrefix("store_") }.map {
            StoreResult.failed(
                RoleFailure($0, $0 == .storeTimedOut ? nil : "why", retryAfter: $0 == .storeTimedOut ? 7 : nil))
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
            #expect(StoreAnswer(line: result.answer.bytes, sha256: { _ in [] })?.result == result)
        }
        for result in [.read(findings), .put(revision: 5)] + reports + findings.map(StoreResult.conflict) + failures {
            #expect(StoreAnswer(line: result.answer.bytes, sha256: { _ in [] })?.result == result)
        }
        for text in [
            "", "{}", #"{"result":"failed","code":"disk_full"}"#, #"{"result":"put"}"#,
            #"{"result":"read","values":[{"state":"held"}]}"#, #"{"result":"conflict","value":{"state":"other"}}"#,
        ] {
            #expect(StoreAnswer(line: Array(text.utf8), sha256: { _ in [] }) == nil)
        }
        let many = (0...StoreResult.mostReports).map {
            StoredReport(machine: "app\($0)", value: nil, revision: 1)
        }
        let page = StoreResult.reports(many, next: nil).answer.bytes
        #expect(StoreAnswer(line: page, sha256: { _ in [] }) == nil, "a page of more reports than there may be")
        let full = StoreResult.reports(many.dropLast(), next: nil).answer.bytes
        #expect(StoreAnswer(line: full, to: .readReports(from: nil), sha256: { _ in [] }) != nil)
        let bomb = Array(#"{"result":"put","revision":5,"more":[\#(String(repeating: "0,", count: 5_000))0]}"#.utf8)
        #expect(StoreAnswer(line: bomb, to: .readReports(from: nil), sha256: { _ in [] }) == nil)
        let expiry = WallTime(secondsSinceEpoch: 1_800_000_000)
        for expiresAt in [expiry, nil] {
            let answer = StoreAnswer(.put(revision: 5), certificateExpiresAt: expiresAt)
            #expect(StoreAnswer(line: answer.line.bytes, sha256: { _ in [] }) == answer)
        }
        for notice in StoreNotice.allCases { #expect(StoreNotice(line: notice.line.bytes) == notice) }
    }
}
