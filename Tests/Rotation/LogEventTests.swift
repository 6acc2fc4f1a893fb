import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What is logged: a lasting failure when it begins, changes and ends, and in between at most hourly.
@Suite struct LogEventTests {
    private let web = "web"

    private var path: AbsolutePath { get throws { try Values.path("web.jwt") } }

    private func settled() throws -> Bench {
        try Bench([web: Values.client(web)]).started()
    }

    /// A renewal was requested, and its secret cannot be written.
    private func failingSinceJustNow() throws -> Bench {
        let bench = try settled()
        try bench.failWrites(of: "web.jwt")
        bench.forget()
        bench.ask(.renew(.init()))
        return bench
    }

    private func failing(_ bench: Bench) -> [Failure] {
        bench.entries.compactMap { if case .failing(_, let failure, _, _) = $0 { failure } else { nil } }
    }

    @Test func aFirstStartIsLoggedInOrder() throws {
        let bench = try settled()
        let name = try Values.name(web)
        let current = try #require(try bench.current(web))
        #expect(
            try bench.entries == [
                .configured(clients: 1), .minted(name, current, .missing), .published(path, [name: current]), .ready,
            ])
    }

    @Test func aRenewalIsLoggedWithoutItsHealthState() throws {
        let action = Values.exec("/bin/after")
        let bench = try Bench([web: Values.client(web, actions: [action])]).settled()
        bench.ask(.renew(.init()))
        let name = try Values.name(web)
        let current = try #require(try bench.current(web))
        #expect(
            try bench.entries == [
                .minted(name, current, .asked), .published(path, [name: current]), .ran(action.id, [name: current]),
            ])
    }

    @Test func aLastingFailureIsLoggedWhenItBeginsHourlyAndWhenItEnds() throws {
        let bench = try failingSinceJustNow()
        let full = try Values.failure(.diskFull, "web.jwt")
        let begins = LogEvent.failing(.file(try path), full, failures: 1, retryAt: Values.moment(1))
        #expect(bench.entries.contains(begins))
        #expect(failing(bench) == [full])
        bench.pass(3599)
        #expect(failing(bench) == [full])
        bench.pass(61)
        #expect(failing(bench) == [full, full])
        bench.pass(36_000)
        #expect(failing(bench).count == 11 || failing(bench).count == 12)
        let states = bench.entries.compactMap { if case .health(_, let state, _) = $0 { state } else { nil } }
        #expect(states == [.degraded])
        bench.failingWrites = [:]
        bench.forget()
        bench.pass(60)
        #expect(bench.entries.contains(.recovered(.file(try path), full)))
        #expect(bench.entries.contains(.health(try Values.name(web), .ok, nil)))
        bench.forget()
        bench.pass(7200)
        #expect(bench.entries == [])
    }

    @Test func aFailureThatChangesIsLoggedAtOnce() throws {
        let bench = try failingSinceJustNow()
        let full = try Values.failure(.diskFull, "web.jwt")
        let readOnly = try Values.failure(.readOnlyFileSystem, "web.jwt")
        bench.pass(300)
        try bench.failWrites(of: "web.jwt", .readOnlyFileSystem)
        bench.pass(60)
        #expect(failing(bench) == [full, readOnly])
    }

    @Test func aReloadForgetsNeitherTheBeginningNorTheEnd() throws {
        let bench = try failingSinceJustNow()
        let full = try Values.failure(.diskFull, "web.jwt")
        bench.pass(300)
        bench.ask(.reload, 2)
        #expect(failing(bench) == [full])
        #expect(try bench.view(web).reason?.since == Values.moment(0))
        bench.pass(60)
        bench.failingWrites = [:]
        bench.ask(.reload, 3)
        #expect(bench.entries.contains(.recovered(.file(try path), full)))
    }

    @Test func aDaemonFaultIsLoggedWhenItBeginsChangesAndEnds() throws {
        let bench = try settled()
        bench.forget()
        let place = Failure.Place.path(try Values.path("m.prom"))
        let full = Failure(.metricsFileUnwritable, at: place, detail: "the disk is full")
        let gone = Failure(.metricsFileUnwritable, at: place, detail: "its directory does not exist")
        for pause: Seconds in [1, 2, 4] { bench.tell(.faultRaised(full, nextAttempt: bench.now.boot + pause)) }
        bench.tell(.faultRaised(gone))
        for _ in 1...2 { bench.tell(.faultCleared(.metricsFileUnwritable)) }
        #expect(bench.entries == [.faultRaised(full), .faultRaised(gone), .faultCleared(gone)])
    }

    @Test func aRefusedConfigurationIsLoggedOnce() throws {
        let bench = try settled()
        bench.text = .success(.refused(["line"]))
        bench.forget()
        bench.ask(.reload)
        bench.ask(.reload, 2)
        #expect(bench.entries == [.refused(["line"])])
        bench.text = .success(.refused(["another"]))
        bench.ask(.reload, 3)
        #expect(bench.entries == [.refused(["line"]), .refused(["another"])])
    }
}
