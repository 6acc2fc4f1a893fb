import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A start whose text is refused continues with the last adopted configuration: applications are not locked out, and
/// nothing that the new text may have removed is used.
@Suite struct ConfigurationWatchFallbackTests {
    private let web = "web"
    private let line = "c.yaml:1:1: error: no clients"
    private let after = Values.exec("/bin/after")
    private let pager = Action.unit(verb: .start, unit: "notice@%s.service")

    private func configuration(lifetime: Int64 = 90 * Values.day) throws -> Configuration {
        try Values.configuration(
            [web: Values.client(web, lifetime: lifetime, actions: [after])], onStateChange: [pager])
    }

    /// A client that was served, then a restart with a text that is refused.
    private func restarted() throws -> Bench {
        let bench = try Bench(try configuration()).started()
        bench.pass(Values.day)
        try bench.restart(try configuration(), refused: [line, "more"])
        return bench
    }

    private func snapshot(_ bench: Bench) -> Snapshot { bench.rotation.snapshot(at: bench.now) }

    private func mints(_ bench: Bench) -> [String] { bench.log.filter { $0.hasPrefix("mint") } }
    private func actions(_ bench: Bench) -> [String] {
        bench.log.filter { $0.hasPrefix("run") || $0.hasPrefix("notify") }
    }

    @Test func itIsDegradedAndSaysWhatIsWrong() throws {
        let bench = try restarted()
        let snapshot = snapshot(bench)
        #expect(snapshot.ready)
        #expect(snapshot.health == .degraded)
        #expect(snapshot.reason?.failure.message.contains("would not start: " + line) == true)
        #expect(snapshot.configuration.error == line + "\nmore")
        #expect(bench.entries.contains(.startedAsBefore([line, "more"])))
        #expect(try bench.view(web).health == .ok)
    }

    @Test func publishedSecretsArePublishedAndRepaired() throws {
        let bench = try restarted()
        let secret = try #require(try bench.current(web))
        bench.disk = [:]
        try bench.debounce("web.jwt")
        #expect(try bench.held(in: "web.jwt") == secret)
        bench.disk = [:]
        try bench.restart(try configuration(), refused: [line])
        #expect(try bench.held(in: "web.jwt") == secret)
        #expect(mints(bench) == [])
    }

    @Test func nothingIsMintedBeforeItBecomesCritical() throws {
        let bench = try restarted()
        let expiry = try #require(try bench.current(web)).expiresAt
        let critical = expiry - Seconds(10 * Values.day)
        #expect(try bench.view(web).renewAt == critical)
        bench.sleep((critical - bench.now.wall).count - 1)
        #expect(mints(bench) == [])
        bench.pass(1)
        #expect(mints(bench) == ["mint web"])
        #expect(try #require(try bench.current(web)).expiresAt > expiry)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        bench.sleep(30 * Values.day)
        #expect(mints(bench) == ["mint web"])
        #expect(actions(bench) == [])
    }

    @Test func whereNothingIsLeftASecretIsMinted() throws {
        let bench = try Bench(try configuration())
        try bench.restart(try configuration(), refused: [line])
        #expect(mints(bench) == ["mint web"])
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(snapshot(bench).ready)
        #expect(actions(bench) == [])
    }

    @Test func anotherLifetimeOrKeyIsNoReasonToMint() throws {
        let bench = try restarted()
        try bench.restart(try configuration(lifetime: 40 * Values.day), refused: [line])
        #expect(mints(bench) == [])
        try bench.replaceKey(by: "2", passing: 60)
        #expect(mints(bench) == [])
    }

    /// A delivery is owed since before the restart.
    private func owing() throws -> Bench {
        let bench = try Bench(try configuration())
        bench.failures[.action(after.id)] = Failure(.actionFailed, at: .action(after.id))
        bench.go()
        bench.failures = [:]
        try bench.restart(try configuration(), refused: [line])
        return bench
    }

    @Test func noActionRunsAndNoStateChangeIsReported() throws {
        let bench = try owing()
        bench.pass(Values.day)
        #expect(actions(bench) == [])
        #expect(try bench.view(web).delivered == false)
        // What helps is to correct the configuration: a request would be refused.
        #expect(try bench.view(web).reason?.failure == snapshot(bench).reason?.failure)
        // And that of now, not of the start.
        for text in [Outcome.refused(["c.yaml:2:1: error: another"]), .configuration(try configuration())] {
            let before = try bench.view(web).reason?.failure
            bench.text = .success(text)
            bench.tell(.changeNoticed(.configuration))
            bench.pass(2)
            #expect(try bench.view(web).reason?.failure == snapshot(bench).reason?.failure)
            #expect(try bench.view(web).reason?.failure != before)
        }
    }

    @Test func aCriticalClientNamesTheConfigurationBecauseARenewalWouldBeRefused() throws {
        let bench = try restarted()
        bench.sleep(85 * Values.day)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure == snapshot(bench).reason?.failure)
    }

    @Test func aRequestForMoreIsAnsweredWithTheReason() throws {
        let bench = try restarted()
        bench.ask(.renew(.init()))
        #expect(bench.answer() == .renewed([try bench.failed(web, try #require(snapshot(bench).reason?.failure))]))
        bench.pass(60)
        #expect(mints(bench) == [])
        // A delivered secret needs no delivery; a missing delivery would fail.
        bench.ask(.renew(.init(deliverOnly: true)), 2)
        #expect(bench.answer(2) == .renewed([try bench.untouched(web)]))
    }

    @Test func aDeliveryThatIsOwedFailsAtOnce() throws {
        let bench = try owing()
        bench.ask(.renew(.init(deliverOnly: true)))
        #expect(bench.answer() == .renewed([try bench.failed(web, try #require(snapshot(bench).reason?.failure))]))
        #expect(actions(bench) == [])
    }

    @Test func oneThatPassesIsReportedAndAdoptedByAReload() throws {
        let bench = try restarted()
        bench.text = .success(.configuration(try configuration()))
        bench.tell(.changeNoticed(.configuration))
        bench.pass(2)
        #expect(bench.entries.contains(.passes))
        #expect(snapshot(bench).health == .degraded)
        #expect(snapshot(bench).reason?.failure.code == .configurationNotAdopted)
        // It is about the file on disk, which is valid now; the reason says that a reload makes it current.
        #expect(snapshot(bench).configuration.error == nil)
        #expect(snapshot(bench).reason?.failure.remedy?.command == "clientsecretd reload")
        bench.ask(.reload)
        #expect(bench.answer() == .reloaded(unserved: []))
        #expect(snapshot(bench).health == .ok)
        #expect(snapshot(bench).configuration.error == nil)
        bench.ask(.renew(.init()), 2)
        #expect(mints(bench) == ["mint web"])
        #expect(actions(bench) == ["run exec /bin/after for web"])
    }
}
