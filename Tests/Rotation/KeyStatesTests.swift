import AppleClientSecret
import Failures
import Testing

@testable import Rotation

/// A key id now stands for another key than before.
@Suite struct KeyStatesTests {
    private let web = "web"

    private func configuration(keyID: String = "ABC123DEFG", file: String = "/keys/apple.p8") throws -> Configuration {
        try Values.configuration(
            [web: Values.client(web)], keys: ["apple": Values.keyEntry(keyID: keyID, file: file)])
    }

    private func settled() throws -> Bench {
        let bench = try Bench(try configuration())
        bench.go()
        bench.forget()
        return bench
    }

    /// Copies another key over the key file.
    private func replace(_ bench: Bench, by digit: Character) throws {
        bench.prints[try Values.key()] = try Values.print(digit)
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(1)
    }

    private var failure: Failure {
        get throws {
            Failure(
                .keyChanged, at: .key(try Values.key()),
                detail: "ABC123DEFG was sha256:1111111111111111 and is sha256:2222222222222222")
        }
    }

    @Test func itIsSaidForADay() throws {
        let bench = try settled()
        try replace(bench, by: "2")
        #expect(bench.entries.contains { if case .keyChanged = $0 { true } else { false } })
        // What is published is signed by the new key.
        #expect(try bench.held(in: "web.jwt")?.signer == Values.print("2"))
        #expect(try bench.view(web).reason?.failure == failure)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).delivered)
        bench.pass(Values.day - 1)
        #expect(try bench.view(web).health == .degraded)
        bench.pass(1)
        #expect(try bench.view(web).health == .ok)
        #expect(bench.entries.filter { if case .keyChanged = $0 { true } else { false } }.count == 1)
    }

    @Test func puttingTheOldFileBackIsAllItTakes() throws {
        let bench = try settled()
        try replace(bench, by: "2")
        try replace(bench, by: "1")
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.held(in: "web.jwt")?.signer == Values.print("1"))
        #expect(bench.entries.contains { if case .keyRestored = $0 { true } else { false } })
    }

    /// The key file could not be read for a while; then two wrong keys were copied over it.
    @Test func theKeyBeforeTheMistakeIsTheOneToPutBack() throws {
        let bench = try settled()
        bench.prints = [:]
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(60)
        try replace(bench, by: "3")
        try replace(bench, by: "2")
        #expect(try bench.view(web).reason?.failure == failure)
        try replace(bench, by: "1")
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aRestartDoesNotForgetIt() throws {
        let bench = try settled()
        try replace(bench, by: "2")
        bench.pass(3600)
        let since = try bench.view(web).reason?.since
        let rotation = try Bench(try configuration())
        rotation.prints = bench.prints
        rotation.records = bench.records
        rotation.disk = bench.disk
        rotation.go()
        #expect(try rotation.view(web).reason?.failure == failure)
        #expect(try rotation.view(web).reason?.since == since)
        try replace(rotation, by: "1")
        #expect(try rotation.view(web).health == .ok)
    }

    @Test func aKeyThatWasReplacedWhileNobodyLookedIsFound() throws {
        let bench = try settled()
        for isReadLast in [true, false] {
            let anew = try Bench(try configuration())
            anew.prints = [try Values.key(): try Values.print("2")]
            anew.records = bench.records
            anew.disk = bench.disk
            let late: Resource = isReadLast ? .key(try Values.key()) : .record(try Values.name(web))
            anew.held = [late]
            anew.go()
            anew.release(late)
            #expect(try anew.view(web).reason?.failure == failure)
            #expect(anew.rotation.keyChanges(at: anew.now) == [try failure])
        }
    }

    /// A changed key alone does not fail `run --once`; anything else that is wrong does.
    @Test func nothingThatFailsIsHiddenByIt() throws {
        let bench = try settled()
        let full = Failure(.diskFull, at: .path(try Values.path("web.jwt")))
        bench.failingWrites[try Values.path("web.jwt")] = full
        try replace(bench, by: "2")
        #expect(try bench.view(web).reason?.failure == full)
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure == full)
        #expect(try !bench.view(web).delivered)
    }

    @Test func whatTheDaemonItselfLacksIsNotHiddenByIt() throws {
        let bench = try settled()
        try replace(bench, by: "2")
        let lack = Failure(.permissionDenied, at: .named("socket"))
        bench.tell(.faultRaised(lack, nextAttempt: nil))
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure == lack)
    }

    @Test func anotherFileForTheSameIdIsTheSameMistake() throws {
        let bench = try settled()
        bench.prints = [try Values.key(): try Values.print("2")]
        bench.reload(try configuration(file: "/keys/other.p8"))
        #expect(try bench.view(web).reason?.failure == failure)
    }

    @Test func anotherKeyWithAnIdOfItsOwnIsNone() throws {
        let bench = try settled()
        bench.prints = [try Values.key(): try Values.print("2")]
        bench.reload(try configuration(keyID: "XYZ123DEFG", file: "/keys/other.p8"))
        #expect(try bench.view(web).health == .ok)
        #expect(!bench.entries.contains { if case .keyChanged = $0 { true } else { false } })
    }
}
