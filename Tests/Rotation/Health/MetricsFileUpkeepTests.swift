import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// When the file with the daemon's metrics is written, and what becomes of one at a former path.
@Suite struct MetricsFileUpkeepTests {
    private let file: AbsolutePath
    private let resource: Resource
    private let unwritable: Failure

    init() throws {
        file = try Values.path("m.prom")
        resource = .metricsFile(file)
        unwritable = Failure(.metricsFileUnwritable, at: .path(file), detail: "the disk is full")
    }

    private func configuration(_ file: String? = "m.prom") throws -> Configuration {
        try Values.configuration(
            ["web": Values.client("web"), "app": Values.client("app")], metricsFile: file.map { try Values.path($0) })
    }

    private func bench(once: Bool = false) throws -> Bench { try Bench(configuration(), once: once) }

    /// A core at rest, which may write again at once.
    private func settled() throws -> Bench {
        let bench = try bench().started()
        bench.pass(10)
        bench.forget()
        return bench
    }

    private func snapshot(_ bench: Bench) -> Snapshot { bench.rotation.snapshot(at: bench.now) }

    private func writes(_ bench: Bench) -> [String] { bench.log.filter { $0.hasSuffix(".prom") } }

    // MARK: When it is written

    @Test func waitsUntilEveryClientWasTried() throws {
        let bench = try bench()
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.go()
        bench.pass(5)
        #expect(try bench.view("app").health == .ok)
        #expect(writes(bench) == [])
        bench.release(.file(try Values.path("web.jwt")))
        #expect(writes(bench) == ["write m.prom"])
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(snapshot(bench).ready)
    }

    @Test func isWrittenWithinASecondOfAChangeAndNotElse() throws {
        let bench = try settled()
        bench.pass(3600)
        bench.tell(.clockSet)
        #expect(writes(bench) == [])
        try bench.renew()
        #expect(writes(bench) == ["write m.prom"])
        bench.boot(after: 999)
        #expect(writes(bench) == ["write m.prom"])
        #expect(bench.metrics != [file: .everything(snapshot(bench))])
        bench.boot(after: 1)
        #expect(writes(bench) == ["write m.prom", "write m.prom"])
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        bench.pass(10)
        #expect(writes(bench).count == 2)
    }

    @Test func aChangeDuringAWriteIsWrittenAfterIt() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew()
        bench.pass(5)
        try bench.renew()
        #expect(writes(bench) == ["write m.prom"])
        bench.release(resource)
        #expect(writes(bench) == ["write m.prom", "write m.prom"])
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
    }

    @Test func isWrittenAgainWhereAnotherProgramHasDeletedOrChangedIt() throws {
        let bench = try settled()
        bench.pass(3600)
        bench.metrics = [:]
        bench.tell(.changeNoticed(resource))
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(writes(bench) == ["write m.prom"])
        // Its own write is noticed, too; and the other program may not give up.
        for _ in 0..<100 {
            bench.metrics = [:]
            bench.tell(.changeNoticed(resource))
            bench.pass(1)
        }
        #expect((10...12).contains(writes(bench).count), "\(writes(bench).count)")
        bench.pass(10)
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        bench.forget()
        bench.pass(3600)
        #expect(writes(bench) == [])
        bench.tell(.changeNoticed(.metricsFile(try Values.path("other.prom"))))
        #expect(writes(bench) == [])
    }

    // MARK: When it cannot be written

    @Test func isAFaultOfTheDaemonAndRetriedUntilItIsWritten() throws {
        let bench = try bench()
        bench.failures = [resource: unwritable]
        bench.go()
        let reason = snapshot(bench).reason
        #expect(reason?.failure == unwritable && reason?.nextAttempt == bench.now.wall + 1)
        #expect(snapshot(bench).health == .degraded)
        #expect(try bench.view("web").health == .ok)
        bench.pass(300)
        #expect((8...14).contains(writes(bench).count), "\(writes(bench))")
        bench.failures = [:]
        bench.pass(60)
        #expect(snapshot(bench).health == .ok)
        bench.pass(1)
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        // When it begins and when it ends, and by no other event.
        let events = bench.entries.filter {
            switch $0 {
            case .faultRaised, .faultCleared, .failing, .recovered: true
            default: false
            }
        }
        #expect(events == [.faultRaised(unwritable), .faultCleared(unwritable)])
    }

    /// An administrator learns of both at once.
    @Test func aClientsFailureHidesNoFault() throws {
        let bench = try bench()
        bench.failures = [resource: unwritable]
        try bench.failWrites(of: "web.jwt")
        bench.go()
        #expect(snapshot(bench).health == .critical)
        #expect(snapshot(bench).reason?.failure.code == .diskFull)
        bench.tell(.faultRaised(Failure(.unitCannotStart, at: .named("app.service"))))
        #expect(snapshot(bench).problems.map(\.failure.code) == [.metricsFileUnwritable, .unitCannotStart])
    }

    /// Also without a thread for it.
    @Test func whateverKeepsItFromBeingWrittenIsOneFault() throws {
        let bench = try bench()
        bench.failures = [resource: Failure(.outOfMemory, at: .named("worker thread"))]
        bench.go()
        #expect(snapshot(bench).reason?.failure.code == .metricsFileUnwritable)
        bench.failures = [:]
        bench.pass(1)
        #expect(snapshot(bench).health == .ok)
    }

    @Test func aWriteThatDoesNotEndIsAFaultAndHoldsUpNothing() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew()
        bench.pass(29)
        #expect(snapshot(bench).health == .ok)
        bench.pass(1)
        #expect(snapshot(bench).reason?.failure.message.contains("not responding") == true)
        #expect(snapshot(bench).reason?.failure.code == .metricsFileUnwritable)
        bench.reload(try configuration(), 2)
        let failure = try #require(snapshot(bench).reason?.failure)
        #expect(bench.answer(2) == .reloaded(unserved: [failure.message]))
        bench.release(resource)
        #expect(snapshot(bench).health == .ok)
        bench.pass(1)
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
    }

    // MARK: Another path

    @Test func aFormerFileThatIsBeingWrittenIsRemovedThen() throws {
        let bench = try settled()
        let new = try Values.path("new.prom")
        bench.held = [resource]
        try bench.renew()
        bench.reload(try configuration("new.prom"), 2)
        #expect(bench.answer(2) == .reloaded(unserved: []))
        #expect(writes(bench) == ["write m.prom", "write new.prom"])
        bench.pass(60)
        #expect(snapshot(bench).health == .ok)
        bench.release(resource)
        #expect(writes(bench).last == "remove m.prom")
        #expect(Array(bench.metrics.keys) == [new])
        bench.reload(try configuration(nil), 3)
        #expect(bench.metrics.isEmpty)
    }

    @Test func aFormerPathThatIsConfiguredAgainStays() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew()
        bench.reload(try configuration("new.prom"), 2)
        bench.reload(try configuration(), 3)
        bench.release(resource)
        bench.pass(1)
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(!writes(bench).contains("remove m.prom"))
    }

    @Test func aFormerFileThatCannotBeRemovedStays() throws {
        let bench = try settled()
        bench.failures = [resource: unwritable]
        bench.reload(try configuration("new.prom"))
        bench.pass(3600)
        #expect(writes(bench).filter { $0 == "remove m.prom" }.count == 1)
        #expect(snapshot(bench).health == .ok)
        #expect(bench.rotation.failures.isEmpty)
    }

    /// It may have been one of the earlier configuration's path.
    @Test func anotherPathEndsTheFault() throws {
        let bench = try bench()
        bench.failures = [resource: unwritable]
        bench.go()
        #expect(snapshot(bench).health == .degraded)
        bench.reload(try configuration(nil))
        #expect(bench.answer() == .reloaded(unserved: []))
        #expect(snapshot(bench).health == .ok)
    }

    // MARK: The end

    @Test func aStopLeavesOnlyTimes() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew()
        bench.tell(.stop)
        #expect(!bench.lastStep.ended)
        bench.release(resource)
        #expect(writes(bench) == ["write m.prom", "write times into m.prom"])
        #expect(bench.metrics == [file: .times(snapshot(bench))])
        #expect(bench.lastStep.ended && bench.rotation.unwrittenMetrics == nil)
    }

    /// Also where another job lasts longer than the stop.
    @Test func aStopWaitsForNoOtherJobAndForNoPause() throws {
        let bench = try bench()
        bench.failures = [resource: unwritable]
        bench.go()
        bench.pass(300)
        bench.failures = [:]
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.tell(.changeNoticed(.file(try Values.path("web.jwt"))))
        bench.pass(2)
        bench.tell(.stop)
        #expect(bench.metrics == [file: .times(snapshot(bench))])
        #expect(!bench.lastStep.ended && bench.rotation.unwrittenMetrics == nil)
    }

    @Test func whyNothingIsWrittenAtTheEndIsKnown() throws {
        let failing = try settled()
        failing.failures = [resource: unwritable]
        failing.tell(.stop)
        #expect(failing.lastStep.ended && failing.rotation.unwrittenMetrics == unwritable)
        #expect(failing.entries == [])

        let hanging = try settled()
        hanging.held = [resource]
        hanging.tell(.stop)
        #expect(!hanging.lastStep.ended)
        #expect(hanging.rotation.unwrittenMetrics?.message.contains("not responding") == true)

        let early = try bench()
        early.held = [.file(try Values.path("web.jwt"))]
        early.go()
        early.tell(.stop)
        #expect(early.metrics.isEmpty && early.rotation.unwrittenMetrics == nil)
    }

    private let after = Values.exec("/bin/after")

    /// A single run that waits for its action.
    private func singleRun() throws -> Bench {
        let bench = try Bench(
            Values.configuration(["web": Values.client("web", actions: [after])], metricsFile: file), once: true)
        bench.held = [.action(after.id)]
        bench.go()
        return bench
    }

    @Test func aSingleRunWritesItAtItsEnd() throws {
        let bench = try singleRun()
        #expect(snapshot(bench).ready && writes(bench) == [])
        bench.release(.action(after.id))
        #expect(writes(bench) == ["write m.prom"])
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(bench.lastStep.ended && bench.rotation.unwrittenMetrics == nil)
    }

    /// By a timeout of cron's, say: the file of the run before would say that all is well.
    @Test func aSingleRunThatIsEndedSaysHowFarItGot() throws {
        let bench = try singleRun()
        bench.tell(.stop)
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(snapshot(bench).health == .degraded && !bench.lastStep.ended)
        bench.failures[.action(after.id)] = Failure(.actionInterrupted, at: .action(after.id))
        bench.release(.action(after.id))
        #expect(bench.metrics == [file: .everything(snapshot(bench))])
        #expect(bench.lastStep.ended && bench.rotation.unwrittenMetrics == nil)
    }

    @Test func aSingleRunTriesItOnce() throws {
        let failing = try bench(once: true)
        failing.failures = [resource: unwritable]
        failing.go()
        #expect(failing.lastStep.ended && failing.rotation.unwrittenMetrics == unwritable)
        #expect(snapshot(failing).health == .ok)
        #expect(writes(failing) == ["write m.prom"])

        let hanging = try bench(once: true)
        hanging.held = [resource]
        hanging.go()
        hanging.pass(29)
        #expect(!hanging.lastStep.ended)
        hanging.pass(1)
        #expect(hanging.lastStep.ended)
        #expect(hanging.rotation.unwrittenMetrics?.message.contains("not responding") == true)
    }
}
