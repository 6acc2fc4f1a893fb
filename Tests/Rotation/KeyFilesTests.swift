import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// When a key is read, and what it does that a key id now stands for another key than before.
@Suite struct KeyFilesTests {
    private let web = "web"

    private func configuration(keyID: String = "ABC123DEFG", file: String = "/keys/apple.p8") throws -> Configuration {
        try Values.configuration(
            [web: Values.client(web)], keys: ["apple": Values.keyEntry(keyID: keyID, file: file)])
    }

    private func settled() throws -> Bench {
        try Bench(try configuration()).settled()
    }

    /// The read that is under way has opened the file before.
    @Test func aKeyThatIsReplacedRightBeforeAReloadIsRead() throws {
        let bench = try settled()
        let key = Resource.key(try Values.key())
        bench.held = [key]
        bench.tell(.changeNoticed(key))
        bench.pass(1)
        bench.prints[try Values.key()] = try Values.print("2")
        bench.tell(.changeNoticed(key))
        bench.reload(try configuration())
        try bench.end(key, .success(.key(try Values.print("1"))))
        bench.pass(1)
        #expect(try bench.held(in: "web.jwt")?.signer == Values.print("2"))
    }

    /// The owner of a key of Apple Ads makes it, and may use it for several accounts.
    @Test func oneKeyWithSeveralIdsIsFound() throws {
        let ads = "27478e71-3bb0-4588-998c-182e2b405577"
        let keys = [
            "apple": try Values.keyEntry(), "copy": try Values.keyEntry(file: "/keys/copy.p8"),
            "id": try Values.keyEntry(keyID: "XYZ123DEFG"), "team": try Values.keyEntry(team: "XYZ123GHIJ"),
            "other": try Values.keyEntry(team: "XYZ123GHIJ", keyID: "OTHER1KEYS", file: "/keys/other.p8"),
            "ads": try Values.keyEntry(team: "SEARCHADS." + ads, keyID: ads),
        ]
        let bench = try Bench(try Values.configuration([web: Values.client(web)], keys: keys))
        bench.prints[try Values.key("other")] = try Values.print("2")
        bench.go()
        let found = bench.rotation.sharedKeys
        let names = found.map { "\($0.otherName) \($0.name)" }
        #expect(names == ["apple id", "apple team"])
        let words = try #require(found.first).words
        #expect(words.hasPrefix(#"keys "apple" (team DEF123GHIJ, key id ABC123DEFG) and "id" (team "#))
    }

    private var failure: Failure {
        get throws {
            Failure(
                .keyChanged, at: .key(try Values.key()),
                detail: "ABC123DEFG was sha256:1111111111111111 and is sha256:2222222222222222")
        }
    }

    @Test func itIsReportedForADay() throws {
        let bench = try settled()
        let old = try #require(try bench.current(web))
        try bench.replaceKey(by: "2", passing: 1)
        #expect(bench.entries.contains { if case .keyChanged = $0 { true } else { false } })
        // What is published is signed by the new key.
        #expect(bench.mintReasons == [.unusable(old)])
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

    /// The key file could not be read for a while; then two wrong keys were copied over it.
    @Test func theKeyBeforeTheMistakeIsTheOneToPutBack() throws {
        let bench = try settled()
        try bench.replaceKey(by: nil, passing: 60)
        try bench.replaceKey(by: "3", passing: 1)
        try bench.replaceKey(by: "2", passing: 1)
        #expect(try bench.view(web).reason?.failure == failure)
        try bench.replaceKey(by: "1", passing: 1)
        #expect(try bench.view(web).health == .ok)
    }

    @Test(arguments: [true, false]) func aKeyThatWasReplacedWhileTheDaemonWasStoppedIsFound(isReadLast: Bool) throws {
        let bench = try settled()
        bench.prints = [try Values.key(): try Values.print("2")]
        let late: Resource = isReadLast ? .key(try Values.key()) : .record(try Values.name(web))
        bench.held = [late]
        try bench.restart(configuration())
        bench.release(late)
        #expect(try bench.view(web).reason?.failure == failure)
        #expect(bench.rotation.keyChanges(at: bench.now) == [try failure])
    }

    /// The clock is wrong, so that the secret is not replaced. Another client's key is read last: it has signed the secret,
    /// which states other ids.
    @Test func aKeyThatIsReadLaterTellsThatAppleRefusesASecret() throws {
        let configuration = try Values.configuration(
            [web: Values.client(web), "api": Values.client("api", key: "spare")], keys: Values.withSpareKey())
        let bench = try Bench(configuration, builtAt: 365 * Values.day)
        let spare = try Values.key("spare")
        bench.prints[spare] = try Values.print("2")
        try bench.place(Values.issued(7, signer: Values.print("2")), in: "web.jwt")
        bench.held = [.key(spare)]
        bench.go()
        #expect(try bench.view(web).health == .degraded)
        bench.release(.key(spare))
        #expect(try bench.view(web).health == .critical)
    }

    /// A changed key alone does not fail `run --once`; anything else that is wrong does.
    @Test func nothingThatFailsIsHiddenByIt() throws {
        let changed = try settled()
        try changed.replaceKey(by: "2", passing: 1)
        let fault = Failure(.permissionDenied, at: .named("socket"))
        changed.tell(.faultRaised(fault, nextAttempt: nil))
        #expect(changed.rotation.snapshot(at: changed.now).reason?.failure == fault)

        let bench = try settled()
        let full = Failure(.diskFull, at: .path(try Values.path("web.jwt")))
        bench.failingWrites[try Values.path("web.jwt")] = full
        try bench.replaceKey(by: "2", passing: 1)
        #expect(try bench.view(web).reason?.failure == full)
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure == full)
        #expect(try !bench.view(web).delivered)
    }

    @Test(arguments: [("ABC123DEFG", true), ("XYZ123DEFG", false)])
    func anotherFileForTheSameIdIsTheSameMistake(keyID: String, isReported: Bool) throws {
        let bench = try settled()
        bench.prints = [try Values.key(): try Values.print("2")]
        bench.reload(try configuration(keyID: keyID, file: "/keys/other.p8"))
        #expect(try bench.view(web).reason?.failure == (isReported ? failure : nil))
        #expect(bench.entries.contains { if case .keyChanged = $0 { true } else { false } } == isReported)
    }

    @Test func aKeyThatIsReplacedWhileAnUnusableOneIsReadIsInUseSoon() throws {
        let key = try Values.key()
        let bench = try Bench(["web": Values.client("web")])
        bench.failures = [.key(key): Failure(.keyTruncated, at: .key(key))]
        bench.go()
        // By now it is retried once a minute.
        bench.pass(3600)
        bench.held = [.key(key)]
        bench.pass(60)
        bench.tell(.changeNoticed(.key(key)))
        bench.release(.key(key))
        bench.failures = [:]
        bench.pass(5)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func aKeyIsNotReadInTheMiddleOfBeingWritten() throws {
        let bench = try settled()
        let key = Resource.key(try Values.key())
        bench.prints = [:]
        bench.tell(.changeNoticed(key))
        // Truncated, and half a second later written.
        bench.prints = [try Values.key(): try Values.print("1")]
        bench.tell(.changeNoticed(key))
        bench.pass(60)
        #expect(bench.effects == [])
        #expect(bench.entries == [])
    }

    @Test func aDirectoryThatIsNeverQuietCostsOneLookASecondAtMost() throws {
        let bench = try settled()
        for _ in 0..<60 {
            bench.tell(.changeNoticed(.key(try Values.key())))
            bench.tell(.changeNoticed(.file(try Values.path("web.jwt"))))
            bench.tell(.changeNoticed(.configuration))
            bench.pass(1)
        }
        for observe in ["read apple", "observe web.jwt", "check configuration"] {
            let count = bench.log.filter { $0 == observe }.count
            #expect(count >= 6 && count <= 60, "\(observe) \(count)")
        }
        // A key that cannot be used is read no more often.
        bench.prints = [:]
        bench.forget()
        for _ in 0..<1000 { bench.tell(.changeNoticed(.key(try Values.key()))) }
        #expect(bench.log == [])
    }

    @Test func aFileReadBecauseOfANoticeIsNoReasonToWakeAgain() throws {
        let bench = try settled()
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.tell(.changeNoticed(.configuration))
        #expect(bench.lastStep.wake.boot != nil)
        // One plan starts both reads; from then on only the jobs' time limit wakes.
        bench.held = [.key(try Values.key()), .configuration]
        bench.pass(1)
        #expect(Set(bench.log) == ["check configuration", "read apple"])
        #expect(bench.lastStep.wake.boot == BootTime(milliseconds: bench.boot) + Rotation.overdueAfter)
    }

    @Test func aSecretSignedByAnotherKeyThanWasReadHasTheKeyReadAgain() throws {
        // The file was replaced between the read and the signing, and no notification has come yet.
        let bench = try settled()
        bench.prints[try Values.key()] = try Values.print("2")
        bench.ask(.renew(.init()))
        #expect(bench.mintReasons == [.asked])
        #expect(try bench.held(in: "web.jwt")?.signer == Values.print("2"))
        #expect(try bench.view(web).reason?.failure.code == .keyChanged)
    }
}
