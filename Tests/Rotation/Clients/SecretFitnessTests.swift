import AppleClientSecret
import Testing

@testable import Model
@testable import Rotation

/// Which secrets need not be replaced: each condition is violated on its own.
@Suite struct SecretFitnessTests {
    private let now = Values.moment(0)

    private func objection(
        to issued: SecretInfo, print: Character? = "1", _ timer: inout WakeTimer
    ) throws -> Objection? {
        let evidence = try print.map { SignatureEvidence.key(try Values.print($0)) } ?? .remembered
        return try Values.client("web").objection(
            to: issued, keys: [(try Values.keyEntry(), evidence)], &timer)
    }

    private var signer: KeyDigest { get throws { try Values.print("1") } }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var id = "com.example.web"
        var team = "DEF123GHIJ"
        var keyID = "ABC123DEFG"
        var from: Int64 = -60
        var to: Int64 = 90 * Values.day
        /// Nil: no key of ours.
        var signer: Character? = "1"
        /// Nil: it cannot be read.
        var key: Character? = "1"
        var isAccepted = false
    }

    @Test(arguments: [
        Row(testDescription: "a secret that fits", isAccepted: true),
        Row(testDescription: "another client", id: "com.example.native"),
        Row(testDescription: "another team", team: "XYZ123GHIJ"),
        Row(testDescription: "another key id", keyID: "XYZ123DEFG"),
        Row(testDescription: "another key", signer: "2"),
        Row(testDescription: "no key of ours", signer: nil),
        Row(testDescription: "no key of ours while the key cannot be read", signer: nil, key: nil),
        Row(testDescription: "a key of ours while the key cannot be read", signer: "2", key: nil, isAccepted: true),
        Row(testDescription: "the second before its expiry", from: -100, to: 1, isAccepted: true),
        Row(testDescription: "its expiry", from: -100, to: 0),
        Row(testDescription: "an issue a minute ahead", from: 60, isAccepted: true),
        Row(testDescription: "an issue of more than a minute ahead", from: 61),
        Row(testDescription: "an expiry at Apple's limit", to: 15_777_000, isAccepted: true),
        Row(testDescription: "an expiry beyond Apple's limit", to: 15_777_001),
    ])
    func aSecretThatFitsIsAcceptedAndNoOther(row: Row) throws {
        var timer = WakeTimer(now: Now(wall: now, boot: BootTime(milliseconds: 0), kernelSynced: true))
        let secret = try Values.issued(
            1, id: row.id, team: row.team, keyID: row.keyID, from: row.from, to: row.to,
            signer: row.signer.map(Values.print))
        #expect(try (objection(to: secret, print: row.key, &timer) == nil) == row.isAccepted)
    }

    @Test func changesByTimeAreRemembered() throws {
        var timer = WakeTimer(now: Now(wall: now, boot: BootTime(milliseconds: 0), kernelSynced: true))
        _ = try objection(to: Values.issued(1, from: 100, to: 200, signer: signer), &timer)
        #expect(timer.wall == Values.moment(40))
        timer = WakeTimer(now: timer.now)
        _ = try objection(to: Values.issued(1, to: 200, signer: signer), &timer)
        #expect(timer.wall == Values.moment(200))
    }

    @Test func ofSeveralThatTheLifetimeEndsAlikeTheYoungestCounts() throws {
        // Two were made for longer than is wanted now: the older one would be due at once, again after every restart.
        let entry = try Values.client("web", lifetime: 1000, renewBefore: 100)
        let old = try Values.issued(1, from: -500, to: 9000, signer: signer)
        let young = try Values.issued(2, from: -60, to: 1000, signer: signer)
        #expect(entry.best(of: [old, young]) == young)
        #expect(entry.best(of: [young, old]) == young)
    }
}
