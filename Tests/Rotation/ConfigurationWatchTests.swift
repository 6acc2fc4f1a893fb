import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A changed configuration file that was not reloaded yet.
@Suite struct ConfigurationWatchTests {
    private let line = "c.yaml:1:1: error: no clients"

    private func settled() throws -> Bench {
        try Bench(["web": Values.client("web")]).settled()
    }

    private func edit(_ bench: Bench, _ text: Result<Outcome, Failure>) {
        bench.text = text
        bench.tell(.changeNoticed(.configuration))
    }

    @Test func oneThatWouldNotStartIsReportedWithinSeconds() throws {
        let bench = try settled()
        edit(bench, .success(.refused([line, "more"])))
        #expect(bench.entries == [])
        bench.pass(1)
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.health == .degraded)
        #expect(snapshot.reason?.failure.code == .configurationRefused)
        #expect(snapshot.reason?.failure.message.contains("would not start: " + line) == true)
        #expect(snapshot.configuration.error == line + "\nmore")
        #expect(bench.entries == [.wouldNotStart([line, "more"])])
        bench.pass(Values.day)
        #expect(bench.rotation.snapshot(at: bench.now).health == .degraded)
        #expect(bench.entries == [.wouldNotStart([line, "more"])])
    }

    /// The text may have been good: what prevented reading it may end without a notification.
    @Test func oneThatIsFixedWithoutNoticeIsFoundToPassWithinAMinute() throws {
        let bench = try settled()
        let good = bench.text
        edit(bench, .success(.refused([line])))
        bench.pass(1)
        bench.text = good
        bench.forget()
        bench.pass(59)
        #expect(bench.rotation.snapshot(at: bench.now).health == .degraded)
        bench.pass(1)
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
        bench.forget()
        bench.pass(Values.day)
        #expect(bench.log == [])
    }

    @Test(arguments: [true, false]) func itIsGoneWhenItIsFixed(isReloaded: Bool) throws {
        let bench = try settled()
        let good = bench.text
        bench.text = .success(.refused([line]))
        if isReloaded { bench.ask(.reload) } else { bench.tell(.changeNoticed(.configuration)) }
        bench.pass(10)
        #expect(bench.rotation.snapshot(at: bench.now).health == .degraded)
        bench.forget()
        edit(bench, good)
        bench.pass(1)
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
        #expect(bench.rotation.snapshot(at: bench.now).configuration.error == nil)
        #expect(bench.entries == [.passes])
    }

    @Test func oneThatPassesIsNotAdoptedByItself() throws {
        let bench = try settled()
        edit(bench, .success(.configuration(try Values.configuration(["other": Values.client("other")]))))
        bench.pass(60)
        #expect(bench.effects == [])
        #expect(bench.entries == [])
        #expect(bench.rotation.snapshot(at: bench.now).clients.map(\.name.description) == ["web"])
        bench.ask(.reload)
        #expect(bench.rotation.snapshot(at: bench.now).clients.map(\.name.description) == ["other"])
    }

    @Test func anEditorIsLeftToFinish() throws {
        let bench = try settled()
        let good = bench.text
        edit(bench, .success(.refused([line])))
        edit(bench, good)
        bench.pass(60)
        #expect(bench.entries == [])
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
    }

    @Test func aNoticeDuringACheckHasItReadAgain() throws {
        let bench = try settled()
        let good = bench.text
        bench.held = [.configuration]
        edit(bench, .success(.refused([line])))
        bench.pass(1)
        bench.tell(.changeNoticed(.configuration))
        bench.release(.configuration)
        #expect(bench.rotation.snapshot(at: bench.now).health == .degraded)
        bench.text = good
        bench.pass(1)
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
    }

    @Test func aReloadWaitsForACheckAndReadsItself() throws {
        let bench = try settled()
        let next = try Values.configuration(["other": Values.client("other")])
        bench.held = [.configuration]
        edit(bench, .success(.configuration(next)))
        bench.pass(1)
        bench.ask(.reload)
        #expect(bench.answer() == nil)
        bench.release(.configuration)
        #expect(bench.answer() == .reloaded(unserved: []))
        #expect(bench.rotation.snapshot(at: bench.now).clients.map(\.name.description) == ["other"])
    }
}
