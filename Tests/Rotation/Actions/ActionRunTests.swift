import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// How applications are notified of new secrets.
@Suite struct ActionRunTests {
    private let web = "web"
    private let after = Values.exec("/bin/after")

    private func failure(_ id: ActionID) -> Failure {
        Failure(.actionFailed, at: .action(id), detail: "exit status 1")
    }

    private func bench(_ actions: [Action]) throws -> Bench {
        try Bench([web: Values.client(web, actions: actions)])
    }

    private func sharing() throws -> [String: ClientConfiguration] {
        [
            "a": try Values.client("a", actions: [after]), "b": try Values.client("b", actions: [after]),
        ]
    }

    @Test func actionsRunAfterAllOutputsAreWritten() throws {
        let bench = try Bench([web: Values.client(web, outputs: [Values.raw("a"), Values.raw("b")], actions: [after])])
        try bench.failWrites(of: "b")
        bench.go()
        bench.pass(300)
        #expect(bench.runs == [])
        bench.failingWrites = [:]
        bench.pass(60)
        #expect(bench.effects.suffix(3) == ["publish b", "run exec /bin/after for web", "keep web"])
    }

    /// Nothing is wrong with the application, but it may be down: nothing is waited for after the next start. A program may exit
    /// with 0 when it is ended.
    @Test(arguments: [false, true]) func whatTheDaemonsEndInterruptsIsKeptAsOwed(exitsWithZero: Bool) throws {
        let bench = try bench([after])
        bench.held = [.action(after.id)]
        bench.go()
        bench.tell(.stop)
        let interrupted = Failure(.actionInterrupted, at: .action(after.id))
        try bench.end(.action(after.id), exitsWithZero ? .success(.ran) : .failure(interrupted))
        bench.go()
        #expect(bench.lastStep.ended)
        #expect(bench.entries.allSatisfy { if case .failing = $0 { false } else { true } })
        if !exitsWithZero { #expect(try bench.view(web).counts.deliveries == Tally()) }
        #expect(try bench.records[Values.name(web)]?.owed == [after.id])
        bench.held = []
        try bench.restart(try Values.configuration([web: Values.client(web, actions: [after])]))
        #expect(bench.log.contains("run exec /bin/after for web"))
        #expect(try bench.view(web).delivered)
    }

    @Test func aSecretThatChangesWhileTheActionRunsHasItRunAgain() throws {
        let bench = try bench([after])
        bench.held = [.action(after.id)]
        bench.go()
        bench.ask(.renew(.init()))
        #expect(bench.answer() == nil)
        bench.release(.action(after.id))
        #expect(bench.runs.count == 2)
        #expect(try bench.answer() == .renewed([bench.renewed(web)]))
        #expect(try bench.view(web).delivered)
    }

    /// systemd may wait for a unit's start for ever (TimeoutStartSec=infinity).
    @Test func aUnitsJobThatDoesNotEndIsReportedAndNotOrderedAgain() throws {
        let restart = Action.unit(verb: .restart, unit: "slow.service")
        let bench = try bench([restart]).settled()
        bench.held = [.action(restart.id)]
        try bench.renew(web)
        bench.pass(299)
        #expect(bench.answer() == nil)
        #expect(try bench.view(web).actions.first?.state == .pending)
        bench.pass(2)
        let failure = Failure(
            .jobTimedOut, at: .action(restart.id), detail: "it has not ended after 300 s, and is still waited for")
        #expect(bench.answer() == .renewed([try bench.failed(web, failure)]))
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure == failure)
        #expect(failure.remedy?.description == "see why (systemctl status slow.service)")
        #expect(try bench.view(web).actions.first?.state == .failed)
        // To order it again would restart the application once more.
        bench.pass(3000)
        #expect(bench.runs.count == 1)
        bench.release(.action(restart.id))
        bench.pass(1)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func clientsThatShareAnActionAndAreDueAboutTheSameTimeRenewTogether() throws {
        let bench = try Bench(sharing())
        // A day before that of the other falls due.
        let old = try Values.issued(
            1, id: "com.example.a", from: -60 - Values.day, to: 89 * Values.day, signer: Values.print("1"))
        try bench.place(old, in: "a.jwt")
        bench.go()
        bench.pass(59 * Values.day - 1)
        bench.forget()
        bench.pass(1)
        let run = try #require(bench.effects.firstIndex(of: "run exec /bin/after for a, b"))
        #expect(bench.runs.count == 1)
        #expect(Set(bench.written) == ["a.jwt", "b.jwt"])
        #expect(bench.effects.lastIndex { $0.hasPrefix("publish") } ?? run < run)
        #expect(bench.mintReasons.count == 2)
        #expect(bench.mintReasons.contains(.due(old)))
        #expect(bench.mintReasons.contains { if case .together = $0 { true } else { false } })
    }

    @Test func aDeliveryIsKeptAlsoWhenAReloadHasRemovedTheAction() throws {
        let bench = try bench([after])
        bench.held = [.action(after.id)]
        bench.go()
        try bench.reload([web: Values.client(web)])
        bench.release(.action(after.id))
        #expect(try bench.records[Values.name(web)]?.delivered[after.id] == bench.current(web))
    }

    @Test func aFailedActionIsRepeatedAndTheOthersAreNot() throws {
        let pager = Values.exec("/bin/pager")
        let bench = try bench([after, pager])
        bench.failures = [.action(pager.id): failure(pager.id)]
        bench.go()
        bench.pass(3600)
        #expect(bench.log.filter { $0 == "run exec /bin/after for web" }.count == 1)
        #expect(bench.log.filter { $0 == "run exec /bin/pager for web" }.count > 3)
        #expect(try bench.view(web).actions.map(\.state) == [.ok, .failed])
        #expect(try bench.view(web).health == .degraded)
        #expect(try !bench.view(web).delivered)
        bench.failures = [:]
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).delivered)
    }

    /// At a start the record says that an action is owed while the file is written: that the record was kept plans no action,
    /// but must not hide that the file was written in the same moment.
    @Test func anActionRunsWhenARecordAndAFileAreWrittenInOneMoment() throws {
        let bench = try Bench(sharing()).started()
        bench.disk[try Values.path("b.jwt")]?.slots[.whole] = .foreign
        // Its probe, once it has ended, would have the action planned again.
        bench.held = [.probe(after.id)]
        try bench.restart(bench.rotation.configuration)
        #expect(bench.effects == ["keep b", "publish b.jwt", "keep b", "run exec /bin/after for b", "keep b"])
    }

    @Test func anActionIsGivenTheSecretAndAllOutputs() throws {
        let bench = try Bench([web: Values.client(web, outputs: [Values.raw("b"), Values.raw("a")], actions: [after])])
        bench.go()
        let covering = bench.works.compactMap { work -> [ClientName: CoveredClient]? in
            if case .run(_, let covering) = work { covering } else { nil }
        }
        let covered = try #require(covering.first?[try Values.name(web)])
        #expect(try covered.issued == bench.current(web))
        // In the configuration's order.
        #expect(covered.outputs.map(\.name) == ["b", "a"])
    }

    @Test func ofTwoTimeoutsForOneActionTheLongerOneCounts() throws {
        let short = Action.exec(arguments: ["/bin/after"], timeout: 5)
        let long = Action.exec(arguments: ["/bin/after"], timeout: 50)
        for (first, second) in [(short, long), (long, short)] {
            let bench = try Bench([
                "a": Values.client("a", actions: [first]), "b": Values.client("b", actions: [second]),
            ]).started()
            #expect(bench.works.contains { if case .run(long, _) = $0 { true } else { false } })
        }
    }

    @Test func oneClientsFailureIsNoneOfAnotherThatWasDelivered() throws {
        let bench = try Bench(sharing()).started()
        bench.failures = [.action(after.id): failure(after.id)]
        try bench.renew("a")
        #expect(try bench.view("a").health == .degraded)
        #expect(try bench.view("a").actions.map(\.state) == [.failed])
        #expect(try bench.view("b").health == .ok)
        #expect(try bench.view("b").actions.map(\.state) == [.ok])
        #expect(try bench.view("b").consecutiveFailures == 0)
    }

    // MARK: A changed configuration

    private func settled(_ actions: [Action]) throws -> Bench {
        try bench(actions).settled()
    }

    @Test func anOutputThatIsAddedGetsTheCurrentSecret() throws {
        let bench = try settled([])
        let current = try bench.current(web)
        try bench.reload([web: Values.client(web, outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")])])
        // The record names the new output before the secret is written there.
        #expect(bench.effects == ["keep web", "publish new.jwt"])
        #expect(try bench.held(in: "new.jwt") == current)
    }

    @Test func anActionThatIsAddedIsRunForTheCurrentSecret() throws {
        let bench = try settled([])
        try bench.reload([web: Values.client(web, actions: [Values.exec("/bin/after")])])
        #expect(bench.written == [])
        #expect(bench.runs == ["exec /bin/after for web"])
        #expect(try bench.records[Values.name(web)]?.delivered[after.id] == bench.current(web))
    }

    @Test func anOutputThatIsAddedOrMovedRunsTheActions() throws {
        let bench = try settled([after])
        var entry = try Values.client(web, actions: [after])
        entry.outputs.append(try Values.raw("second.jwt"))
        try bench.reload([web: entry])
        #expect(try bench.held(in: "second.jwt") == bench.current(web))
        #expect(bench.runs.count == 1)
        entry.outputs = [try Values.raw("third.jwt")]
        try bench.reload([web: entry])
        #expect(bench.runs.count == 2)
        // Nothing is written, so no action runs.
        try bench.reload([web: entry])
        #expect(bench.runs.count == 2)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func clientsThatChangePlacesRunTheirActions() throws {
        let other = Values.exec("/bin/other")
        func configuration(_ webs: String, _ others: String) throws -> Configuration {
            var first = try Values.client(web, actions: [after])
            var second = try Values.client("other", actions: [other])
            first.outputs = [try Values.raw(webs)]
            second.outputs = [try Values.raw(others)]
            return try Values.configuration([web: first, "other": second])
        }
        let bench = try Bench(try configuration("a.jwt", "b.jwt")).settled()
        bench.reload(try configuration("b.jwt", "a.jwt"))
        #expect(try bench.held(in: "b.jwt") == bench.current(web))
        #expect(bench.runs.sorted() == ["exec /bin/after for web", "exec /bin/other for other"])
    }
}
