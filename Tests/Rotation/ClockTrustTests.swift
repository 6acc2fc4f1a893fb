import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// When the wall clock is not trusted: nothing is minted, and health says so.
@Suite struct ClockTrustTests {
    private func bench(builtAt: Int64 = -365 * Values.day) throws -> Bench {
        try Bench(["web": Values.client("web")], builtAt: builtAt)
    }

    /// A core that has started while the kernel does not call the clock synchronised.
    private func unsynced(builtAt: Int64 = -365 * Values.day) throws -> Bench {
        let bench = try bench(builtAt: builtAt)
        bench.isSynced = false
        return bench.started()
    }

    /// A secret dated an hour ahead.
    private func fromTheFuture() throws -> SecretInfo {
        try Values.issued(1, from: 3600, to: 80 * Values.day, signer: Values.print("1"))
    }

    /// A core that has read such a secret while the kernel does not call the clock synchronised.
    private func doubting(isDiskFull: Bool = false) throws -> Bench {
        let bench = try bench()
        bench.isSynced = false
        try bench.place(fromTheFuture(), in: "web.jwt")
        if isDiskFull { try bench.failWrites(of: "web.jwt") }
        bench.go()
        return bench
    }

    private func failure(_ bench: Bench) throws -> Failure.Code? {
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.clockTrusted == (bench.rotation.clock.failure == nil))
        return bench.rotation.clock.failure?.code
    }

    /// However long it runs.
    @Test(arguments: [true, false]) func aClockBeforeTheBuildIsWrong(isSynced: Bool) throws {
        let bench = try bench(builtAt: 7200)
        bench.isSynced = isSynced
        bench.go()
        #expect(try failure(bench) == .clockBeforeBuild)
        #expect(bench.effects == [])
        #expect(try bench.view("web").reason?.failure.code == .clockBeforeBuild)
        bench.pass(7199)
        #expect(!bench.log.contains("mint web"))
        bench.pass(1)
        #expect(try failure(bench) == nil)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func outputsArePublishedWhileTheClockIsWrong() throws {
        let bench = try bench(builtAt: Values.day)
        let issued = try Values.issued(1, signer: Values.print("1"))
        bench.records[try Values.name("web")] = Record(current: issued)
        bench.go()
        #expect(try bench.held(in: "web.jwt") == issued)
    }

    @Test func anUnsynchronisedClockBeforeASecretOfOursIsDoubtedForTenMinutes() throws {
        let bench = try doubting()
        #expect(try failure(bench) == .clockDoubtful)
        #expect(try bench.view("web").health == .degraded)
        bench.pass(599)
        #expect(try failure(bench) == .clockDoubtful)
        #expect(!bench.log.contains("mint web"))
        bench.pass(1)
        #expect(try failure(bench) == nil)
        #expect(bench.log.contains("mint web"))
    }

    /// A single run without a state directory cannot know more, and the next one would begin to wait again.
    @Test(arguments: [(5, true), (599, true), (600, false), (7200, false)])
    func aSingleRunDoubtsOnlyInTheMachinesFirstTenMinutes(seconds: Int64, isDoubted: Bool) throws {
        let bench = try Bench(["web": Values.client("web")], once: true)
        bench.boot = seconds * 1000
        bench.isSynced = false
        try bench.place(fromTheFuture(), in: "web.jwt")
        bench.go()
        #expect(bench.lastStep.ended)
        #expect(try failure(bench) == (isDoubted ? .clockDoubtful : nil))
        #expect(try (bench.held(in: "web.jwt") == fromTheFuture()) == isDoubted)
        #expect(try bench.view("web").health == (isDoubted ? .degraded : .ok))
    }

    @Test func aClockIsNotDoubtedAgainForTheSameSecret() throws {
        let bench = try doubting(isDiskFull: true)
        bench.pass(600)
        #expect(try bench.lastStep.wake.wall != fromTheFuture().issuedAt)
        bench.pass(1200)
        #expect(try bench.held(in: "web.jwt") == fromTheFuture())
        #expect(bench.entries.filter(isAboutTheClock).count == 2)
        #expect(try failure(bench) == nil)
    }

    @Test func noOlderSecretTakesThePlaceOfTheOneInForceWhileTheClockIsDoubted() throws {
        let bench = try Bench(["web": Values.client("web", outputs: [Values.raw("a"), Values.raw("b")])])
        bench.isSynced = false
        bench.go()
        bench.pass(Values.day)
        try bench.failWrites(of: "b")
        bench.ask(.renew(.init()))
        let young = try bench.current("web")
        #expect(try bench.held(in: "b") != young)
        bench.step(-Values.day / 2)
        #expect(try failure(bench) == .clockDoubtful)
        #expect(try bench.current("web") == young)
        #expect(try bench.held(in: "a") == young)
    }

    @Test func aClockThatWasDoubtedLongEnoughIsNotDoubtedForAnOlderSecretOfThatTime() throws {
        let bench = try Bench(["web": Values.client("web"), "native": Values.client("native")])
        bench.isSynced = false
        try bench.place(
            Values.issued(2, id: "com.example.native", from: 1800, to: 80 * Values.day, signer: Values.print("1")),
            in: "native.jwt")
        try bench.place(fromTheFuture(), in: "web.jwt")
        try bench.failWrites(of: "native.jwt")
        bench.go()
        bench.pass(600)
        // The secret that was issued last is replaced now; the other is still in its file.
        #expect(try failure(bench) == nil)
        bench.pass(60)
        #expect(try failure(bench) == nil)
        // This clock has certainly reached the time of what was minted since.
        bench.step(-Values.day)
        #expect(try failure(bench) == .clockDoubtful)
    }

    @Test func theKernelsWordIsBelievedWithinSeconds() throws {
        let bench = try doubting()
        bench.pass(100)
        bench.isSynced = true
        bench.pass(10)
        #expect(try failure(bench) == nil)
        #expect(bench.log.contains("mint web"))
    }

    @Test func aClockThatIsSetRightIsBelieved() throws {
        let bench = try doubting()
        bench.step(3600)
        #expect(try failure(bench) == nil)
        #expect(try bench.current("web") == fromTheFuture())
        #expect(!bench.log.contains("mint web"))
    }

    /// By a synchronised clock; where nobody of ours has signed it; of a long time ahead.
    @Test(
        arguments: [(true, 3600, "1"), (false, 3600, nil), (false, 43 * 366 * Values.day, "1")]
            as [(Bool, Int64, Character?)])
    func castsNoDoubt(isSynced: Bool, from: Int64, signer: Character?) throws {
        let bench = try bench()
        bench.isSynced = isSynced
        try bench.place(
            Values.issued(1, from: from, to: from + 80 * Values.day, signer: signer.map(Values.print)), in: "web.jwt")
        bench.go()
        #expect(try failure(bench) == nil)
        #expect(bench.log.contains("mint web"))
    }

    /// A candidate waits for Apple's verdict, and is later than the current one.
    @Test(arguments: [false, true]) func aKeptSecretFromTheFutureCastsDoubtToo(isCandidate: Bool) throws {
        var client = try Values.client("web")
        client.verify = isCandidate
        let bench = try Bench(["web": client])
        bench.isSynced = false
        let current = try Values.issued(2, from: -Values.day, to: 80 * Values.day, signer: Values.print("1"))
        var record = try Record(current: isCandidate ? current : fromTheFuture())
        if isCandidate { record.candidate = try fromTheFuture() }
        bench.records[try Values.name("web")] = record
        bench.go()
        #expect(try failure(bench) == .clockDoubtful)
        #expect(!bench.log.contains("mint web"))
    }

    @Test func anUnsynchronisedClockIsBelievedWhileNothingContradictsIt() throws {
        let bench = try unsynced()
        #expect(try failure(bench) == nil)
        bench.pass(90 * Values.day)
        #expect(try failure(bench) == nil)
        #expect(try bench.view("web").renewals == 2)
    }

    @Test func theJournalSaysWhenItBeginsAndEnds() throws {
        let bench = try unsynced()
        // By now somebody has vouched for the clock: it has run for long enough.
        bench.pass(600)
        bench.forget()
        bench.step(-7200)
        bench.pass(300)
        let issued = try #require(try bench.current("web")).issuedAt.description
        #expect(
            bench.entries.filter(isAboutTheClock) == [
                .clockDistrusted(Failure(.clockDoubtful, at: .clock, detail: issued))
            ])
        bench.pass(300)
        #expect(bench.entries.filter(isAboutTheClock).last == .clockTrusted)
    }

    @Test func theJournalSaysWhenTheFailureIsAnotherOne() throws {
        let bench = try unsynced(builtAt: -100)
        bench.pass(600)
        bench.ask(.renew(.init()))
        bench.forget()
        bench.step(-90)
        #expect(try failure(bench) == .clockDoubtful)
        bench.step(-3600)
        #expect(try failure(bench) == .clockBeforeBuild)
        let codes = bench.entries.compactMap { entry -> Failure.Code? in
            if case .clockDistrusted(let failure) = entry { failure.code } else { nil }
        }
        #expect(codes == [.clockDoubtful, .clockBeforeBuild])
        bench.pass(3)
        #expect(bench.entries.filter(isAboutTheClock).count == 2)
    }

    /// The daemon's problem and its clients' reasons are copied at different moments, and `health` and `status` show each different
    /// one.
    @Test(
        arguments: [(7200, .clockBeforeBuild), (-16 * 366 * Values.day, .clockPerhapsAhead)] as [(Int64, Failure.Code)])
    func aWrongClockIsOneReasonHoweverLongItRuns(builtAt: Int64, code: Failure.Code) throws {
        let bench = try unsynced(builtAt: builtAt)
        func reason() throws -> Failure {
            bench.pass(25)
            bench.go()
            let snapshot = bench.rotation.snapshot(at: bench.now)
            let reason = try #require(snapshot.reason)
            #expect(reason.failure.code == code)
            #expect(snapshot.problems.map(\.failure) == [reason.failure])
            return reason.failure
        }
        let first = try reason()
        #expect(try reason() == first)
        // The time that it was set to is another one.
        bench.step(600)
        let set = bench.now.wall.description
        #expect(try reason().detail == set)
        #expect(bench.entries.filter(isAboutTheClock).count == 1)
    }

    @Test func aLaterSecretOfOursIsNamedForEveryClient() throws {
        let bench = try Bench(["web": Values.client("web"), "native": Values.client("native")])
        bench.isSynced = false
        try bench.place(fromTheFuture(), in: "web.jwt")
        bench.go()
        let later = try Values.issued(
            2, id: "com.example.native", from: 5400, to: 80 * Values.day, signer: Values.print("1"))
        try bench.place(later, in: "native.jwt")
        bench.tell(.changeNoticed(.file(try Values.path("native.jwt"))))
        bench.pass(2)
        let failure = Failure(.clockDoubtful, at: .clock, detail: later.issuedAt.description)
        #expect(bench.rotation.clock.failure == failure)
        #expect(try bench.view("web").reason?.failure == failure)
    }

    // MARK: A clock that may be ahead

    /// A core that starts so long after a secret was minted that it has kept, by a clock that the kernel does not vouch for.
    private func startedLate(by late: Int64, lifetime: Int64 = 90 * Values.day, isKept: Bool = true) throws -> Bench {
        let bench = try bench(builtAt: -15 * 365 * Values.day)
        bench.isSynced = false
        let issued = try Values.issued(1, from: -late - 60, to: lifetime - late, signer: Values.print("1"))
        try bench.place(issued, in: "web.jwt")
        if isKept { bench.records[try Values.name("web")] = Record(current: issued) }
        bench.go()
        return bench
    }

    /// Asked for is not because of its times.
    @Test func aRequestMintsByAnyClock() throws {
        let bench = try startedLate(by: 65 * Values.day)
        bench.ask(.renew(.init()))
        #expect(bench.log.contains("mint web"))
    }

    /// A machine that was off for an hour would be without a secret for that time.
    @Test func aSecretThatLivesForHoursIsReplaced() throws {
        #expect(try startedLate(by: 7200, lifetime: 3600).log.contains("mint web"))
    }

    @Test func anExpiredSecretThatIsFoundAtTheFirstStartIsReplaced() throws {
        #expect(try startedLate(by: 400 * Values.day, isKept: false).log.contains("mint web"))
    }

    /// 15 years after the build, however long the machine runs.
    @Test func nothingIsMintedByAClockLongAfterTheBuild() throws {
        let bench = try unsynced(builtAt: -16 * 366 * Values.day)
        bench.pass(7200)
        #expect(try failure(bench) == .clockPerhapsAhead)
        #expect(!bench.log.contains("mint web"))
        bench.isSynced = true
        bench.pass(10)
        #expect(try failure(bench) == nil)
        #expect(bench.log.contains("mint web"))
    }

    /// A date that was mistyped, or a virtual machine that was resumed.
    @Test func aClockThatIsSetAheadReplacesNothingForTenMinutes() throws {
        let bench = try unsynced()
        bench.pass(Values.day)
        let good = try bench.current("web")
        for days in [61, 85, 400] as [Int64] {
            bench.forget()
            bench.step(days * Values.day)
            bench.pass(300)
            let view = try bench.view("web")
            #expect(view.health == .degraded && view.reason?.failure.code == .clockPerhapsAhead, "\(days)")
            bench.step(-days * Values.day)
            bench.pass(300)
            #expect(try bench.view("web").health == .ok, "\(days)")
            #expect(bench.mintReasons == [], "\(days)")
            #expect(try bench.current("web") == good, "\(days)")
        }
        bench.step(61 * Values.day)
        bench.pass(599)
        #expect(try bench.current("web") == good)
        bench.pass(1)
        #expect(try bench.current("web") != good)
    }

    /// What was minted meanwhile for another reason is of the wrong clock.
    @Test func aClockThatIsSetBackAtOnceIsCorrected() throws {
        let bench = try unsynced()
        bench.pass(Values.day)
        bench.step(61 * Values.day)
        bench.ask(.renew(.init()))
        let wrong = try bench.current("web")
        bench.pass(10)
        bench.step(-61 * Values.day)
        #expect(try failure(bench) == nil)
        #expect(try bench.current("web") != wrong)
        #expect(try bench.view("web").health == .ok)
    }

    /// A daemon that is started again and a command that has not seen the clock run know from the state directory for how long.
    @Test(
        arguments: [(0, nil, false), (-599, nil, true), (-600, nil, false), (-6000, -599, true), (-6000, -600, false)]
            as [(Int64, Int64?, Bool)])
    func theClockIsJudgedByWhatWasSeenOfItBefore(since: Int64, doubtedSince: Int64?, isDoubted: Bool) throws {
        let secret = try fromTheFuture()
        let now = Now(wall: Values.moment(0), boot: BootTime(milliseconds: 9_000_000), kernelSynced: false)
        func moment(_ seconds: Int64) -> BootTime { BootTime(milliseconds: max(0, 9_000_000 + seconds * 1000)) }
        let run =
            since == 0 ? ClockRun.fromTheStart : ClockRun(since: moment(since), doubtedSince: doubtedSince.map(moment))
        let builtAt = Values.moment(-365 * Values.day)
        let ofCommand = Failure.ofClock(judging: secret, run: run, builtAt: builtAt, at: now)
        #expect(ofCommand?.code == (isDoubted ? .clockDoubtful : nil))
        var daemon = ClockTrust(run)
        var timer = WakeTimer(now: now)
        // Its files are read after it was first judged.
        _ = daemon.judge(builtAt: builtAt, isOnce: false, isStarting: true, &timer) { [] }
        daemon.noteIssue(secret)
        _ = daemon.judge(builtAt: builtAt, isOnce: false, isStarting: true, &timer) { [secret] }
        #expect(daemon.failure?.code == (isDoubted ? .clockDoubtful : nil))
    }

    private func isAboutTheClock(_ entry: LogEvent) -> Bool {
        switch entry {
        case .clockDistrusted, .clockTrusted: true
        default: false
        }
    }
}
