import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// The whole core at a start: what it does, depending on what is already there.
@Suite struct RotationStartTests {
    private func bench(_ entry: ClientConfiguration? = nil) throws -> Bench {
        try Bench(["web": try entry ?? Values.client("web")])
    }

    private func found(_ number: UInt64, to: Int64 = 80 * Values.day) throws -> SecretInfo {
        try Values.issued(number, from: -10 * Values.day, to: to, signer: Values.print("1"))
    }

    @Test func withNothingKnownASecretIsMintedKeptPublishedAndDelivered() throws {
        let bench = try bench(try Values.client("web", actions: [Values.exec("/bin/after")])).started()
        #expect(
            bench.effects == [
                "mint web", "keep web", "publish web.jwt", "run exec /bin/after for web", "keep web",
            ])
        let current = try #require(try bench.current("web"))
        #expect(current.issuedAt == Values.moment(-60))
        #expect(current.expiresAt == Values.moment(90 * Values.day))
        #expect(bench.mintReasons == [.missing])
        #expect(bench.records[try Values.name("web")]?.current == current)
        #expect(bench.records[try Values.name("web")]?.delivered == [ActionID("exec /bin/after"): current])
    }

    @Test func aSecretIsKeptBeforeItIsPublished() throws {
        let bench = try bench()
        let record = Resource.record(try Values.name("web"))
        bench.go()
        let first = try bench.current("web")
        bench.held = [record]
        bench.ask(.renew(.init()))
        #expect(try bench.current("web") != first)
        #expect(try bench.held(in: "web.jwt") == first)
        bench.release(record)
        #expect(try bench.held(in: "web.jwt") == bench.current("web"))
    }

    @Test func aSecretInTheOutputsIsTakenOver() throws {
        let bench = try bench()
        try bench.place(found(1), in: "web.jwt")
        bench.go()
        #expect(bench.mintReasons == [])
        #expect(bench.written == [])
        #expect(try bench.current("web") == found(1))
        #expect(try bench.records[Values.name("web")]?.current == found(1))
        #expect(try bench.entries.contains(.tookOver(Values.name("web"), found(1))))
        #expect(try bench.view("web").renewals == 0)
        #expect(try bench.view("web").health == .ok)
    }

    /// A process that has reached a limit knows nothing of what is there.
    @Test(arguments: [Failure.Code.outOfDescriptors, .outOfMemory, .outOfTasks])
    func aSecretThatCannotBeReadForALimitIsNotMintedAgain(code: Failure.Code) throws {
        let bench = try bench()
        let name = try Values.name("web")
        bench.records[name] = Record(current: try found(1))
        try bench.place(found(1), in: "web.jwt")
        let path = try Values.path("web.jwt")
        bench.failures = [
            .record(name): Failure(code, at: .path(path)),
            .file(path): Failure(code, at: .path(path)),
        ]
        bench.go()
        bench.pass(3600)
        #expect(bench.mintReasons == [])
        #expect(try bench.view("web").reason?.failure.code == code)
        #expect(bench.rotation.isReady)
        bench.failures = [:]
        bench.pass(60)
        #expect(bench.mintReasons == [])
        #expect(try bench.current("web") == found(1))
        #expect(try bench.view("web").health == .ok)
    }

    @Test func aSecretThatIsOnlyInTheStateDirectoryIsPublished() throws {
        let bench = try bench()
        bench.records[try Values.name("web")] = Record(current: try found(1))
        bench.go()
        #expect(bench.mintReasons == [])
        #expect(try bench.held(in: "web.jwt") == found(1))
    }

    @Test func ofSeveralThatAreFoundTheOneThatExpiresLastIsPublishedEverywhere() throws {
        let entry = try Values.client("web", outputs: [Values.raw("a"), Values.raw("b")])
        let bench = try bench(entry)
        try bench.place(found(1, to: 70 * Values.day), in: "a")
        try bench.place(found(2, to: 80 * Values.day), in: "b")
        bench.records[try Values.name("web")] = Record(current: try found(3, to: 60 * Values.day))
        bench.go()
        #expect(bench.mintReasons == [])
        #expect(bench.written == ["a"])
        #expect(try bench.held(in: "a") == found(2))
        #expect(try bench.records[Values.name("web")]?.current == found(2))
    }

    @Test func anActionThatWasNotRunBeforeTheKillIsRunAfterIt() throws {
        let entry = try Values.client("web", actions: [Values.exec("/bin/after"), Values.exec("/bin/pager")])
        let bench = try bench(entry)
        bench.held = [.action(ActionID("exec /bin/pager"))]
        bench.go()
        bench.held = []
        try bench.restart(try Values.configuration(["web": entry]))
        #expect(bench.written == [])
        #expect(bench.runs == ["exec /bin/pager for web"])
    }

    @Test func nothingIsMintedForAClientWhoseOutputsWereNotLookedAtYet() throws {
        let bench = try bench(try Values.client("web", outputs: [Values.raw("a"), Values.raw("b")]))
        bench.held = [.file(try Values.path("b"))]
        bench.go()
        #expect(bench.effects == [])
        try bench.place(found(1), in: "b")
        bench.release(.file(try Values.path("b")))
        #expect(bench.mintReasons == [])
        #expect(try bench.held(in: "a") == found(1))
    }

    @Test func anOutputThatCannotBeReadKeepsNoClientWaiting() throws {
        let bench = try bench(try Values.client("web", outputs: [Values.raw("a"), Values.raw("b")]))
        bench.failures = [.file(try Values.path("b")): try Values.failure(.permissionDenied, "b")]
        bench.go()
        #expect(bench.written == ["a"])
        #expect(try bench.held(in: "a") == bench.current("web"))
        // Applications cannot be expected to read it either.
        #expect(try bench.view("web").health == .critical)
    }

    @Test func aStateDirectoryThatCannotBeUsedKeepsNoClientWaiting() throws {
        let web = try Values.name("web")
        let bench = try bench()
        bench.failures = [.record(web): Failure(.stateUnusable, at: .client(web))]
        bench.go()
        #expect(bench.mintReasons == [.missing])
        #expect(try bench.held(in: "web.jwt") == bench.current("web"))
        #expect(bench.records[web] == nil)
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure == Failure(.stateUnusable, at: .client(web)))
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.records[web]?.current == bench.current("web"))
        #expect(try bench.view("web").health == .ok)
    }

    /// Also if it is due.
    @Test func aKeyThatCannotBeReadLeavesWhatIsPublishedInForce() throws {
        let due = try found(1, to: 20 * Values.day)
        let bench = try bench(try Values.client("web", outputs: [Values.raw("a"), Values.raw("b")]))
        bench.prints = [:]
        try bench.place(due, in: "a")
        bench.go()
        #expect(try bench.current("web") == due)
        #expect(bench.written == ["b"])
        #expect(try bench.held(in: "b") == due)
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure == Failure(.keyMissing, at: .key(try Values.key())))
        try bench.replaceKey(by: "1", passing: 1)
        #expect(try bench.held(in: "b")?.fingerprint == Fingerprint(leadingBytes: 1001))
    }

    @Test func askingForANewOneDoesNotLoseTheOldOneWhileTheKeyCannotBeRead() throws {
        let bench = try bench(try Values.client("web", outputs: [Values.raw("a"), Values.raw("b")]))
        bench.prints = [:]
        try bench.place(found(1), in: "a")
        bench.ask(.renew(.init()))
        #expect(try bench.held(in: "b") == found(1))
    }

    @Test func recordsAreFoundOnceTheyCanBeReadAndAreNeeded() throws {
        let bench = try bench()
        let record = Resource.record(try Values.name("web"))
        bench.records[try Values.name("web")] = Record(current: try found(1))
        bench.prints = [:]
        bench.failures = [record: Failure(.stateUnusable, at: .named("the state directory"))]
        bench.go()
        #expect(try bench.view("web").health == .critical)
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.held(in: "web.jwt") == found(1))
        bench.forget()
        bench.pass(600)
        #expect(!bench.log.contains("recall web"))
    }
}
