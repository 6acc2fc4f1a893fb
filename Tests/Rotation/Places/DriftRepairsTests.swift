import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What other programs do to a file, and how soon and how often it is repaired.
@Suite struct DriftRepairsTests {
    private let web = "web"
    private let after = Values.exec("/bin/after")

    private var path: AbsolutePath { get throws { try Values.path("web.jwt") } }

    private func settled() throws -> Bench {
        let bench = try Bench([web: Values.client(web, actions: [after])]).started()
        bench.pass(10)
        bench.forget()
        return bench
    }

    private func notice(_ bench: Bench) throws {
        bench.tell(.changeNoticed(.file(try path)))
    }

    private func drift(_ bench: Bench) throws {
        bench.disk[try path] = FileObservation(slots: [.whole: .foreign])
        try notice(bench)
    }

    /// The file holds bad content long enough to be read, because writes fail; then they work again.
    private func driftForLong(_ bench: Bench) throws {
        try bench.failWrites(of: "web.jwt")
        try drift(bench)
        bench.pass(10)
        bench.failingWrites = [:]
        bench.pass(30)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
    }

    /// A file that was repaired three times, which makes it contested.
    private func contested(leftBad: Bool = false) throws -> Bench {
        let bench = try settled()
        for repairs in 0..<(leftBad ? 4 : 3) {
            #expect(try bench.view(web).outputs.map(\.state) == [repairs < 3 ? .ok : .contested])
            try drift(bench)
            bench.pass(60)
        }
        #expect(try bench.view(web).outputs.map(\.state) == [.contested])
        return bench
    }

    @Test func aFileIsLookedAtAfterTwoSecondsOfQuiet() throws {
        let bench = try settled()
        try drift(bench)
        bench.pass(1)
        try notice(bench)
        bench.pass(1)
        #expect(bench.written == [])
        bench.pass(1)
        #expect(bench.written == ["web.jwt"])
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
    }

    /// A program that fights with single runs, or with a daemon that is restarted, would else have the actions run for ever.
    @Test func repairsOfEarlierRunsCount() throws {
        let bench = try settled()
        let configuration = try Values.configuration([web: Values.client(web, actions: [after])])
        for number in 0..<5 {
            bench.disk[try path] = FileObservation(slots: [.whole: .foreign])
            bench.pass(60)
            try bench.restart(configuration, ofMachine: false)
            #expect(try (bench.held(in: "web.jwt") == bench.current(web)) == (number < 3), "\(number)")
            #expect(bench.log.contains { $0.hasPrefix("run") } == (number < 3), "\(number)")
        }
        #expect(try bench.view(web).reason?.failure == Failure(.contested, at: .path(path)))
        bench.pass(600)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        // Nothing is judged by what an hour has passed over.
        bench.pass(3600)
        try bench.restart(configuration, ofMachine: false)
        #expect(try bench.view(web).health == .ok)
    }

    /// A run published it and could not keep its record. The next secret's actions would run as after damage, without a rollout.
    @Test func aNewerSecretThanTheRecordIsNoDamage() throws {
        let bench = try settled()
        let name = try Values.name(web)
        let record = bench.records[name]
        bench.ask(.renew(.init()))
        bench.pass(60)
        let newer = try bench.current(web)
        bench.records[name] = record
        try bench.restart(try Values.configuration([web: Values.client(web, actions: [after])]), ofMachine: false)
        #expect(try bench.current(web) == newer && record?.current != newer)
        bench.pass(70 * Values.day)
        #expect(try bench.current(web) != newer)
        #expect(try bench.view(web).outputs.map(\.repairs) == [0])
    }

    /// A reboot empties directories such as /run.
    @Test func filesThatAReinstallOrARebootRemovedAreNotContested() throws {
        let bench = try settled()
        for _ in 0..<5 {
            bench.disk[try path] = nil
            bench.pass(60)
            try bench.restart(try Values.configuration([web: Values.client(web, actions: [after])]))
        }
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aFileThatIsNeverQuietIsRepairedAllTheSame() throws {
        let bench = try settled()
        try drift(bench)
        for _ in 0..<10 {
            #expect(bench.written == [])
            bench.pass(1)
            try notice(bench)
        }
        #expect(bench.written.first == "web.jwt")
    }

    /// The file was read before its secret became the current one.
    @Test func aSecretThatWasFoundInTheFileIsRepairedAfterTheSameQuiet() throws {
        let bench = try Bench([web: Values.client(web, actions: [after])])
        let found = try Values.issued(1, signer: Values.print("1"))
        try bench.place(found, in: "web.jwt")
        bench.go()
        #expect(try bench.current(web) == found)
        bench.forget()
        try drift(bench)
        for _ in 0..<9 {
            bench.pass(1)
            try notice(bench)
            #expect(bench.written == [])
        }
        bench.pass(2)
        #expect(bench.written.first == "web.jwt")
    }

    /// It is known to be bad long before it may be written.
    @Test func aBadFileThatIsNeverQuietIsNotCalledGood() throws {
        let bench = try settled()
        try drift(bench)
        var good = 0
        for _ in 0..<30 {
            bench.pass(1)
            // The other program goes on, also after each repair.
            try drift(bench)
            if try bench.view(web).health == .ok { good += 1 }
        }
        #expect(bench.written.count == 3)
        #expect(good <= 9, "three seconds before it is first read, and after each repair")
    }

    @Test func badContentThatStoodBrieflyRunsNoAction() throws {
        let bench = try settled()
        try drift(bench)
        bench.pass(4)
        // The record counts the repair.
        #expect(bench.effects == ["publish web.jwt", "keep web"])
        #expect(try bench.view(web).health == .ok)
    }

    @Test func badContentThatStoodForFiveSecondsRunsTheActions() throws {
        let bench = try settled()
        try driftForLong(bench)
        // The record keeps that the action is due, and then that it ran.
        #expect(bench.log.suffix(3) == ["keep web", "run exec /bin/after for web", "keep web"])
        #expect(bench.runs.count == 1)
        #expect(try bench.view(web).health == .ok)
    }

    /// Applications have read what they should have, even if its permission bits were wrong for long.
    @Test(arguments: [(true, 0), (false, 1)]) func onlyWrongContentRunsTheActions(isExact: Bool, runs: Int) throws {
        let bench = try settled()
        try bench.failWrites(of: "web.jwt")
        bench.disk[try path]?.isAsConfigured = false
        bench.disk[try path]?.isExact = isExact
        try notice(bench)
        bench.pass(10)
        bench.failingWrites = [:]
        bench.pass(30)
        #expect(bench.written.contains("web.jwt"))
        #expect(bench.runs.count == runs)
        #expect(try bench.view(web).outputs.map(\.repairs) == [1])
    }

    @Test func aChangeThatWasNotWatchedMayHaveBeenReadForLong() throws {
        let bench = try settled()
        bench.disk[try path] = FileObservation(slots: [.whole: .foreign])
        try bench.restart(bench.rotation.configuration)
        // That the action is owed is kept before its cause is gone.
        #expect(
            bench.effects
                == ["keep web", "publish web.jwt", "keep web", "run exec /bin/after for web", "keep web"])
        try bench.restart(bench.rotation.configuration)
        #expect(bench.effects == [])
    }

    @Test func aReloadAndARequestAreAnsweredWithTheContestedFile() throws {
        let bench = try contested(leftBad: true)
        #expect(try bench.held(in: "web.jwt") == nil)
        try bench.reload([web: Values.client(web, actions: [after])])
        let failure = Failure(.contested, at: .path(try path))
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
        bench.overwritten = [try path: FileObservation(slots: [.whole: .foreign])]
        bench.ask(.renew(.init(deliverOnly: true)), 2)
        bench.pass(2)
        #expect(try bench.answer(2) == .renewed([bench.failed(web, failure)]))
    }

    @Test func aFileThatIsDamagedAgainAndAgainIsContested() throws {
        let bench = try contested()
        #expect(try bench.view(web).reason?.failure == Failure(.contested, at: .path(path)))
        #expect(try bench.view(web).health == .degraded)
        bench.forget()
        // The drift goes on: repaired every ten minutes at most, and without actions.
        for _ in 0..<30 {
            try drift(bench)
            bench.pass(60)
        }
        #expect((2...3).contains(bench.log.filter { $0 == "publish web.jwt" }.count))
        #expect(bench.runs.count == 0)
        bench.pass(600)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        bench.pass(3600)
        #expect(try bench.view(web).health == .ok)
    }

    /// Only what is repaired from then on is repaired without actions.
    @Test func theRepairThatMakesAFileContestedIsDelivered() throws {
        let bench = try settled()
        for _ in 0..<2 {
            try drift(bench)
            bench.pass(60)
        }
        bench.forget()
        try driftForLong(bench)
        #expect(try bench.view(web).outputs.map(\.state) == [.contested])
        #expect(bench.runs.count == 1)
        #expect(try bench.view(web).delivered)
        try drift(bench)
        bench.pass(600)
        #expect(bench.runs.count == 1)
    }

    @Test func aContestedFileThatIsBadSaysWhenItIsRepaired() throws {
        let bench = try contested()
        #expect(try bench.view(web).reason?.nextAttempt == nil)
        try drift(bench)
        bench.pass(10)
        let next = try #require(try bench.view(web).reason?.nextAttempt)
        bench.forget()
        bench.pass((next - bench.now.wall).count - 1)
        #expect(bench.written == [])
        bench.pass(1)
        #expect(bench.written == ["web.jwt"])
    }

    @Test func anActionThatBeganBeforeARepairDoesNotCountAsRunForIt() throws {
        let bench = try settled()
        bench.held = [.action(after.id)]
        bench.ask(.renew(.init()))
        #expect(bench.runs.count == 1)
        // While the hook runs, the file is bad for long enough for the application to have read it.
        try driftForLong(bench)
        bench.release(.action(after.id))
        #expect(bench.runs.count == 2)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aFileThatDoesNotStayAsWrittenIsNotWrittenWithoutEnd() throws {
        let bench = try settled()
        // A program that watches the file and overwrites it at once; a file system that accepts modes and drops them.
        for observe in [FileObservation(slots: [.whole: .foreign]), FileObservation(slots: [:], isAsConfigured: false)]
        {
            bench.overwritten = [try path: observe]
            bench.ask(.renew(.init()))
            bench.pass(3600)
            #expect(bench.log.filter { $0 == "publish web.jwt" }.count <= 10)
            #expect(try bench.view(web).outputs.map(\.state) == [.contested])
            bench.forget()
        }
        bench.overwritten = [:]
        bench.pass(7200)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aProgramThatNeverRestsDoesNotKeepAFileFromBeingKnown() throws {
        let bench = try Bench([web: Values.client(web)])
        bench.held = [.file(try path)]
        bench.go()
        for _ in 0..<10 {
            guard let observation = try bench.rotation.jobs[.file(path)], observation.work.isObservation else {
                break
            }
            try notice(bench)
            bench.tell(.finished(observation.id, .success(.observed(FileObservation(slots: [:])))))
        }
        #expect(bench.log.filter { $0 == "observe web.jwt" }.count == 1)
        #expect(bench.log.contains("mint web"))
    }

    @Test func aRequestHasAContestedFileWrittenOnce() throws {
        let bench = try contested(leftBad: true)
        for request in [DaemonRequest.renew(.init()), .renew(.init(deliverOnly: true))] {
            #expect(try bench.held(in: "web.jwt") == nil)
            bench.ask(request)
            #expect(try bench.held(in: "web.jwt") == bench.current(web))
            bench.forget()
            try drift(bench)
            bench.pass(60)
            #expect(!bench.log.contains("publish web.jwt"))
        }
    }

    @Test func aSecretThatAContestedFileNeverHeldIsNotHeldBack() throws {
        let bench = try contested(leftBad: true)
        try bench.replaceKey(by: "2", passing: 5)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
    }

    /// It is written at once, and brings the place no nearer to being contested.
    @Test func aNewSecretOverBadContentIsNoRepair() throws {
        let bench = try settled()
        let former = try bench.current(web)
        try bench.failWrites(of: "web.jwt")
        try drift(bench)
        bench.pass(10)
        bench.ask(.renew(.init()))
        bench.failingWrites = [:]
        bench.pass(3600)
        #expect(try bench.current(web) != former)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(try bench.view(web).outputs.map(\.repairs) == [0])
    }
}
