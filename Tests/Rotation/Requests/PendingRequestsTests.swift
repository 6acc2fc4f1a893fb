import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Requests, their answers, and when they are given.
@Suite struct PendingRequestsTests {
    private let after = Values.exec("/bin/after")

    /// Two clients, `a` and `b`, that share nothing.
    private func settled() throws -> Bench {
        try Bench(["a": Values.client("a", actions: [after]), "b": Values.client("b")]).settled()
    }

    /// A core whose writes for `b` failed for so long that it retries once a minute; they would succeed now.
    private func failedForLong() throws -> Bench {
        let bench = try settled()
        try bench.failWrites(of: "b.jwt")
        bench.ask(.renew(.init()))
        bench.pass(3600)
        bench.failingWrites = [:]
        return bench
    }

    // MARK: Renew

    @Test func allAreRenewedAndDelivered() throws {
        let bench = try settled()
        bench.held = [.action(after.id)]
        bench.ask(.renew(.init()))
        #expect(bench.answer() == nil)
        bench.release(.action(after.id))
        #expect(try bench.answer() == .renewed([bench.renewed("a"), bench.renewed("b")]))
        #expect(bench.mintReasons == [.asked, .asked])
        #expect(bench.log.last { $0.hasPrefix("run") } == "run exec /bin/after for a")
    }

    @Test func anUnknownClientRenewsNoClient() throws {
        let bench = try settled()
        bench.ask(.renew(.init(clients: [try Values.name("b"), try Values.name("z"), try Values.name("y")])))
        #expect(try bench.answer() == .unknownClients([Values.name("y"), Values.name("z")]))
        #expect(bench.log == [])
    }

    @Test func onlyWhatIsDueWithinTheSpanIsRenewed() throws {
        let bench = try settled()
        bench.pass(Values.day)
        try bench.renew("a")
        bench.forget()
        // `a` is due in 60 days, `b` in 59.
        bench.ask(.renew(.init(dueWithin: Seconds(59 * Values.day))))
        #expect(try bench.answer() == .renewed([bench.untouched("a"), bench.renewed("b")]))
        bench.ask(.renew(.init(dueWithin: Seconds(60 * Values.day - 1))), 2)
        #expect(try bench.answer(2) == .renewed([bench.untouched("a"), bench.untouched("b")]))
    }

    /// Whichever of two clients that share a file comes first: the one that is not due is left alone.
    @Test(arguments: ["a", "b"]) func aClientThatIsNotDueIsNotLookedAtForAnother(due: String) throws {
        let shared = try ["a", "b"].map { try Values.env("shared.env", $0.uppercased()) }
        let bench = try Bench([
            "a": Values.client("a", outputs: [shared[0], Values.raw("a.jwt")]),
            "b": Values.client("b", outputs: [shared[1], Values.raw("b.jwt")]),
        ]).started()
        let other = due == "a" ? "b" : "a"
        bench.pass(10 * Values.day)
        try bench.renew(other)
        bench.forget()
        bench.ask(.renew(.init(dueWithin: Seconds(55 * Values.day))))
        let answers = [try bench.renewed(due), try bench.untouched(other)]
        #expect(bench.answer() == .renewed(due == "a" ? answers : answers.reversed()))
        #expect(!bench.log.contains("observe \(other).jwt"))
    }

    @Test func aRequestForTheDueIsAnsweredOnceTheDueAreKnown() throws {
        let found = try Values.issued(1, id: "com.example.a", to: 80 * Values.day, signer: Values.print("1"))
        let bench = try Bench(["a": Values.client("a")])
        try bench.place(found, in: "a.jwt")
        // Asked before anything was read.
        bench.ask(.renew(.init(dueWithin: Seconds(Values.day))))
        #expect(try bench.answer() == .renewed([bench.untouched("a")]))
        #expect(try bench.current("a") == found)
    }

    @Test func aDeliverOnlyRenewalMintsNothing() throws {
        let bench = try settled()
        bench.failures = [.action(after.id): Failure(.actionFailed, at: .action(after.id))]
        bench.ask(.renew(.init()))
        let current = try bench.current("a")
        bench.failures = [:]
        bench.forget()
        bench.ask(.renew(.init(deliverOnly: true)))
        #expect(try bench.answer() == .renewed([bench.delivered("a"), bench.untouched("b")]))
        #expect(bench.runs == ["exec /bin/after for a"])
        #expect(bench.mintReasons == [])
        #expect(bench.written == [])
        #expect(try bench.current("a") == current)
    }

    @Test func theNeedToDeliverIsJudgedByTheOutputs() throws {
        let bench = try settled()
        // Another program damaged it and no notification came, as on a network file system.
        try bench.place(nil, in: "b.jwt")
        bench.ask(.renew(.init(deliverOnly: true)))
        #expect(try bench.answer() == .renewed([bench.untouched("a"), bench.delivered("b")]))
        #expect(try bench.held(in: "b.jwt") == bench.current("b"))
        #expect(!bench.log.contains { $0.hasPrefix("mint") })
    }

    @Test func anOutputThatCannotBeReadIsNotTakenForDelivered() throws {
        let bench = try settled()
        let file = Resource.file(try Values.path("b.jwt"))
        let failure = try Values.failure(.ioError, "b.jwt")
        bench.failures = [file: failure]
        bench.ask(.renew(.init(clients: [try Values.name("b")], deliverOnly: true)))
        #expect(try bench.answer() == .renewed([bench.failed("b", failure)]))
    }

    @Test func aDueClientThatFailsIsNotCalledNotDue() throws {
        let bench = try settled()
        let failure = Failure(.signingFailed, at: .key(try Values.key()))
        bench.failures = [.client(try Values.name("b")): failure]
        bench.pass(Values.day)
        try bench.renew("a")
        bench.pass(59 * Values.day + 30)
        bench.ask(.renew(.init(dueWithin: Seconds(0))), 2)
        #expect(try bench.answer(2) == .renewed([bench.untouched("a"), bench.failed("b", failure)]))
        // A client whose output fails has a secret that is not due.
        bench.failures = [:]
        try bench.failWrites(of: "b.jwt")
        try bench.renew("b", number: 3)
        bench.forget()
        bench.ask(.renew(.init(dueWithin: Seconds(3600))), 4)
        #expect(try bench.answer(4) == .renewed([bench.untouched("a"), bench.untouched("b")]))
        // A client without a secret is due.
        bench.disk = [:]
        bench.prints = [:]
        bench.records = [:]
        let key = Failure(.keyMissing, at: .key(try Values.key()))
        try bench.restart(
            Values.configuration(["a": Values.client("a", actions: [after]), "b": Values.client("b")]))
        bench.ask(.renew(.init(dueWithin: Seconds(0))), 5)
        #expect(try bench.answer(5) == .renewed([bench.failed("a", key), bench.failed("b", key)]))
    }

    @Test func askingTriesAtOnceWhatHasFailedForLong() throws {
        let bench = try failedForLong()
        bench.ask(.renew(.init(clients: [try Values.name("b")], deliverOnly: true)), 2)
        #expect(try bench.answer(2) == .renewed([bench.delivered("b")]))
        let reloaded = try failedForLong()
        reloaded.ask(.reload, 2)
        #expect(reloaded.answer(2) == .reloaded(unserved: []))
        #expect(try reloaded.view("b").health == .ok)
    }

    @Test func aFailureDuringARequestIsTriedAgainAtOnce() throws {
        let action = Resource.action(after.id)
        let failure = Failure(.actionTimedOut, at: .action(after.id))
        let bench = try settled()
        bench.failures = [action: failure]
        bench.ask(.renew(.init()))
        bench.pass(3600)
        bench.held = [action]
        bench.pass(900)
        bench.forget()
        try bench.renew("a", number: 2)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        bench.release(action)
        #expect(bench.log.contains("run exec /bin/after for a"))
        #expect(try bench.answer(2) == .renewed([bench.failed("a", failure)]))
    }

    @Test func aKeyThatCannotBeUsedFailsTheRenewalAndIsRetried() throws {
        let key = try Values.key()
        let bench = try settled()
        bench.prints = [:]
        bench.tell(.changeNoticed(.key(key)))
        bench.pass(600)
        bench.ask(.renew(.init()))
        let failure = Failure(.keyMissing, at: .key(key))
        #expect(try bench.answer() == .renewed([bench.failed("a", failure), bench.failed("b", failure)]))
        bench.prints = [key: try Values.print("1")]
        bench.forget()
        bench.pass(60)
        #expect(bench.mintReasons == [.asked, .asked])
    }

    @Test func aRequestDuringARenewalIsServedByIt() throws {
        let client = Resource.client(try Values.name("b"))
        let bench = try settled()
        bench.held = [client]
        try bench.renew("b")
        try bench.renew("b", number: 2)
        bench.release(client)
        #expect(try bench.answer(1) == .renewed([bench.renewed("b")]))
        #expect(bench.answer(2) == bench.answer(1))
        #expect(bench.log.filter { $0 == "mint b" }.count == 1)
    }

    @Test func aFailureFromBeforeTheRequestIsNotItsOwn() throws {
        let file = Resource.file(try Values.path("b.jwt"))
        let bench = try settled()
        bench.held = [file]
        try bench.debounce("b.jwt")
        try bench.renew("b")
        #expect(bench.answer() == nil)
        bench.fail(file, try Values.failure(.ioError, "b.jwt"))
        #expect(try bench.answer() == .renewed([bench.renewed("b")]))
    }

    @Test func aStateDirectoryThatCannotBeUsedFailsNoRenewal() throws {
        let bench = try settled()
        let name = try Values.name("b")
        bench.failures = [.record(name): Failure(.stateUnusable, at: .client(name))]
        bench.ask(.renew(.init(clients: [name])))
        #expect(try bench.answer() == .renewed([bench.renewed("b")]))
        #expect(try bench.view("b").health == .degraded)
    }

    @Test func aClockThatIsNotTrustedFailsTheRenewal() throws {
        let bench = try settled()
        bench.isSynced = false
        bench.step(-Values.day)
        try bench.renew("b")
        let failure = try #require(bench.rotation.snapshot(at: bench.now).reason?.failure)
        #expect(failure.code == .clockDoubtful)
        #expect(try bench.answer() == .renewed([bench.failed("b", failure)]))
        // The answer said that nothing is minted: no mint follows by itself hours later.
        bench.forget()
        bench.step(Values.day)
        bench.pass(Values.day)
        #expect(bench.mintReasons == [])
        #expect(try bench.view("b").health == .ok)
        bench.pass(59 * Values.day)
        #expect(bench.mintReasons.count == 2)
    }

    /// The only secret was made for another id, so nothing can be delivered until one is minted.
    @Test func aClockThatIsNotTrustedFailsADeliveryThatNeedsAnotherSecret() throws {
        let bench = try settled()
        bench.isSynced = false
        bench.step(-Values.day)
        try bench.reload(
            ["a": Values.client("a", actions: [after]), "b": Values.client("b", id: "com.example.other")], 2)
        let failure = try #require(bench.rotation.snapshot(at: bench.now).reason?.failure)
        #expect(failure.code == .clockDoubtful)
        #expect(bench.answer(2) == .reloaded(unserved: ["client \"b\": \(failure.message)"]))
        bench.ask(.renew(.init(clients: [try Values.name("b")], deliverOnly: true)), 3)
        #expect(try bench.answer(3) == .renewed([bench.failed("b", failure)]))
    }

    @Test func aDistrustedClockDoesNotSayWhatIsDue() throws {
        let bench = try settled()
        bench.isSynced = false
        // So little that the secrets look usable and not due.
        bench.step(-90)
        bench.ask(.renew(.init(dueWithin: Seconds(Values.day))))
        let outcomes = try bench.answer { if case .renewed(let outcomes) = $0 { outcomes } else { nil } }
        #expect(outcomes.allSatisfy { if case .failed = $0.result { true } else { false } })
    }

    @Test func aClockThatIsDoubtedWhileASecretIsMadeDoesNotLoseIt() throws {
        let bench = try settled()
        let client = Resource.client(try Values.name("b"))
        bench.held = [client]
        try bench.renew("b")
        bench.isSynced = false
        bench.step(-Values.day)
        #expect(bench.answer() == nil)
        bench.release(client)
        #expect(try bench.answer() == .renewed([bench.renewed("b")]))
    }

    @Test func aClientThatIsRemovedMeanwhileIsReported() throws {
        let bench = try settled()
        bench.held = [.client(try Values.name("b"))]
        bench.ask(.renew(.init()))
        try bench.reload(["a": Values.client("a", actions: [after])], 2)
        let gone = RenewalOutcome(
            client: try Values.name("b"), result: .failed("the client is no longer configured"))
        #expect(try bench.answer() == .renewed([bench.renewed("a"), gone]))
    }

    // MARK: Reload

    @Test func aConfigurationIsAdoptedAndWhatItCannotServeIsNamed() throws {
        let bench = try settled()
        let outputs = [try Values.raw("c.jwt"), try Values.raw("d.jwt")]
        let failures = outputs.map { Failure(.directoryMissing, at: .path($0.path)) }
        bench.failures = Dictionary(uniqueKeysWithValues: zip(outputs.map { .file($0.path) }, failures))
        try bench.reload(["b": Values.client("b"), "c": Values.client("c", outputs: outputs)])
        #expect(bench.answer() == .reloaded(unserved: failures.map { "client \"c\": \($0.message)" }))
        #expect(try bench.view("b").health == .ok)
        #expect(bench.rotation.snapshot(at: bench.now).clients.map(\.name.description) == ["b", "c"])
        #expect(bench.entries.contains(.configured(clients: 2)))
    }

    @Test func aReloadWaitsForTheMetricsFileAndNamesWhatTheDaemonItselfCannotDo() throws {
        let bench = try settled()
        let group = Failure(.unknownGroup, at: .named("operators"))
        let file = try Values.path("m.prom")
        let unwritable = Failure(.metricsFileUnwritable, at: .path(file))
        var configuration = bench.rotation.configuration
        configuration.metricsFile = file
        // Of the machine, not of the configuration.
        bench.tell(.faultRaised(Failure(.noNotices, at: .named("inotify"))))
        bench.tell(.faultRaised(group))
        bench.held = [.metricsFile(file)]
        bench.reload(configuration)
        #expect(bench.answer() == nil)
        bench.fail(.metricsFile(file), unwritable)
        #expect(bench.answer() == .reloaded(unserved: [group.message, unwritable.message]))
        bench.tell(.faultCleared(.unknownGroup))
        bench.held = [.metricsFile(file)]
        bench.ask(.reload, 2)
        #expect(bench.answer(2) == nil)
        bench.release(.metricsFile(file))
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    @Test func aConfigurationThatDoesNotPassChangesNothingAndIsReported() throws {
        let bench = try settled()
        let line = "/etc/clientsecretd/clientsecretd.yaml:1:1: error: no clients"
        bench.text = .success(.refused([line, "more"]))
        bench.ask(.reload)
        #expect(bench.answer() == .refused(diagnostics: [line, "more"]))
        #expect(bench.effects == [])
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.health == .degraded)
        #expect(snapshot.reason?.failure.code == .configurationRefused)
        #expect(snapshot.configuration.error == line + "\nmore")
        #expect(snapshot.configuration.loadedAt == Values.moment(0))
        #expect(snapshot.clients.map(\.health) == [.ok, .ok])
        // Renewals continue with the old configuration.
        for _ in 0..<60 { bench.sleep(Values.day) }
        #expect(try bench.view("b").renewals == 2)
        try bench.reload(["b": Values.client("b")], 2)
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
        #expect(bench.rotation.snapshot(at: bench.now).configuration.loadedAt == Values.moment(60 * Values.day))
    }

    @Test func aConfigurationThatCannotBeReadIsNotCalledRefused() throws {
        let bench = try settled()
        let line = "c.yaml:1:1: error: c.yaml: the disk or file server fails"
        bench.text = .success(.unread([line]))
        bench.ask(.reload)
        #expect(bench.answer() == .unread(diagnostics: [line]))
        let failure = Failure(.permissionDenied, at: .named("/etc/clientsecretd/clientsecretd.yaml"))
        bench.text = .failure(failure)
        bench.ask(.reload)
        #expect(bench.answer() == .unread(diagnostics: [failure.message]))
    }

    /// The answer waits for a client that hangs; meanwhile somebody saves a configuration that would be refused.
    @Test func aReloadIsAnsweredByWhatItHasRead() throws {
        let configuration = try Values.configuration(["web": Values.client("web")])
        let bench = try Bench(configuration).started()
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.reload(configuration)
        bench.pass(5)
        bench.text = .success(.refused(["line 3: unknown key"]))
        bench.tell(.changeNoticed(.configuration))
        bench.pass(5)
        #expect(bench.answer() == nil)
        bench.release(.file(try Values.path("web.jwt")))
        #expect(bench.answer() == .reloaded(unserved: [], orphaned: []))
    }

    @Test func aReloadDuringAReloadReadsAgain() throws {
        let bench = try settled()
        bench.held = [.configuration]
        bench.ask(.reload)
        bench.ask(.reload, 2)
        bench.release(.configuration)
        #expect(bench.log.filter { $0 == "read configuration" }.count == 2)
        #expect(bench.answer(1) == .reloaded(unserved: []))
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    @Test func aReloadWhileAWriteRunsJudgesThatFileAgain() throws {
        let file = Resource.file(try Values.path("b.jwt"))
        let bench = try settled()
        bench.held = [file]
        try bench.renew("b")
        try bench.reload(["b": Values.client("b")], 2)
        #expect(bench.answer(2) == nil)
        bench.release(file)
        #expect(bench.answer(2) == .reloaded(unserved: []))
        #expect(try bench.answer(1) == .renewed([bench.renewed("b")]))
        #expect(try bench.held(in: "b.jwt") == bench.current("b"))
    }

    // MARK: Stop

    @Test func waitingRequestsAreAnsweredThatTheDaemonStops() throws {
        let bench = try settled()
        bench.held = [.client(try Values.name("b"))]
        bench.ask(.renew(.init()))
        bench.ask(.reload, 2)
        bench.tell(.stop)
        #expect(bench.answer(1) == .stopping)
        bench.ask(.renew(.init()), 3)
        #expect(bench.answer(3) == .stopping)
        #expect(!bench.lastStep.ended)
        #expect(!bench.rotation.snapshot(at: bench.now).ready)
        bench.forget()
        bench.release(.client(try Values.name("b")))
        #expect(bench.lastStep.ended)
        #expect(bench.log == ["keep b"], "what was minted is kept for the next start, and nothing else is begun")
    }
}
