import AppleClientSecret
import Testing

@testable import Model
@testable import Rotation

/// Which secrets need not be replaced: each condition is violated on its own.
@Suite struct AcceptanceTests {
    private let now = Values.moment(0)

    private func accepts(_ issued: SecretInfo, print: Character? = "1") throws -> Bool {
        var deadlines = Deadlines(
            now: Now(wall: now, boot: BootTime(milliseconds: 0), kernelSynced: true))
        return (try? fitness(of: issued, print: print, &deadlines)) != nil
    }

    private func fitness(of issued: SecretInfo, print: Character? = "1", _ deadlines: inout Deadlines) throws -> Int {
        let evidence = try print.map { SignatureEvidence.key(try Values.print($0)) } ?? .remembered
        return try Values.client("web").fitness(
            of: issued, keys: [(try Values.keyEntry(), evidence)], &deadlines)
    }

    private var signer: KeyDigest { get throws { try Values.print("1") } }

    @Test func aSecretThatFitsIsAccepted() throws {
        #expect(try accepts(Values.issued(1, signer: signer)))
    }

    @Test func anotherClientIsRefused() throws {
        #expect(try !accepts(Values.issued(1, id: "com.example.native", signer: signer)))
    }

    @Test func anotherTeamIsRefused() throws {
        #expect(try !accepts(Values.issued(1, team: "XYZ123GHIJ", signer: signer)))
    }

    @Test func anotherKeyIDIsRefused() throws {
        #expect(try !accepts(Values.issued(1, keyID: "XYZ123DEFG", signer: signer)))
    }

    @Test func anotherKeyIsRefused() throws {
        #expect(try !accepts(Values.issued(1, signer: Values.print("2"))))
    }

    @Test func aSecretThatNoKeyOfOursSignedIsRefused() throws {
        #expect(try !accepts(Values.issued(1, signer: nil)))
        #expect(try !accepts(Values.issued(1, signer: nil), print: nil))
    }

    @Test func whileTheKeyCannotBeReadASecretOfAKeyOfOursIsBelieved() throws {
        #expect(try accepts(Values.issued(1, signer: Values.print("2")), print: nil))
    }

    @Test func aSecretIsValidUntilTheSecondBeforeItsExpiry() throws {
        #expect(try accepts(Values.issued(1, from: -100, to: 1, signer: signer)))
        #expect(try !accepts(Values.issued(1, from: -100, to: 0, signer: signer)))
    }

    @Test func anIssueOfMoreThanAMinuteAheadIsImpossible() throws {
        #expect(try accepts(Values.issued(1, from: 60, signer: signer)))
        #expect(try !accepts(Values.issued(1, from: 61, signer: signer)))
    }

    @Test func anExpiryBeyondApplesLimitIsImpossible() throws {
        #expect(try accepts(Values.issued(1, to: 15_777_000, signer: signer)))
        #expect(try !accepts(Values.issued(1, to: 15_777_001, signer: signer)))
    }

    @Test func whatTimeAloneWillChangeIsRemembered() throws {
        var deadlines = Deadlines(now: Now(wall: now, boot: BootTime(milliseconds: 0), kernelSynced: true))
        _ = try? fitness(of: Values.issued(1, from: 100, to: 200, signer: signer), &deadlines)
        #expect(deadlines.wall == Values.moment(40))
        deadlines = Deadlines(now: deadlines.now)
        _ = try? fitness(of: Values.issued(1, to: 200, signer: signer), &deadlines)
        #expect(deadlines.wall == Values.moment(200))
    }

    @Test func ofSeveralTheOneThatExpiresLastCounts() throws {
        let entry = try Values.client("web")
        let short = try Values.issued(1, to: 1000, signer: signer)
        let long = try Values.issued(2, to: 2000, signer: signer)
        #expect(entry.best(of: [short, long]) == long)
        #expect(entry.best(of: [long, short]) == long)
        #expect(entry.best(of: []) == nil)
    }

    @Test func ofSeveralThatTheLifetimeEndsAlikeTheYoungestCounts() throws {
        // Two were made for longer than is wanted now: the older one would be due at once, again after every restart.
        let entry = try Values.client("web", lifetime: 1000, renewBefore: 100)
        let old = try Values.issued(1, from: -500, to: 9000, signer: signer)
        let young = try Values.issued(2, from: -60, to: 1000, signer: signer)
        #expect(entry.best(of: [old, young]) == young)
        #expect(entry.best(of: [young, old]) == young)
    }

    @Test func theChoiceBetweenEqualsDoesNotDependOnTheirOrder() throws {
        let entry = try Values.client("web")
        let one = try Values.issued(1, signer: signer)
        let two = try Values.issued(2, signer: signer)
        #expect(entry.best(of: [one, two]) == entry.best(of: [two, one]))
    }
}
