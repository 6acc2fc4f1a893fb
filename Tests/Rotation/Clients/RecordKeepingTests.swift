import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A state directory that was emptied or replaced while the daemon runs, and what is removed from it.
@Suite struct RecordKeepingTests {
    private let after = Values.exec("/bin/after")
    private let pager = Action.unit(verb: .start, unit: "notice@%s.service")

    private func settled() throws -> Bench {
        let clients = ["web": try Values.client("web", actions: [after])]
        return try Bench(Values.configuration(clients, onStateChange: [pager])).settled()
    }

    @Test func theDaemonsKnowledgeTakesThePlaceOfABackup() throws {
        let bench = try settled()
        let web = try Values.name("web")
        let (oldRecords, oldReported) = (bench.records, bench.reportedStates)
        bench.ask(.renew(.init()))
        try bench.failWrites(of: "web.jwt")
        bench.disk[try Values.path("web.jwt")]?.isAsConfigured = false
        try bench.debounce("web.jwt")
        bench.pass(30)
        let (records, reported) = (bench.records, bench.reportedStates)
        #expect(records != oldRecords && reported != oldReported && reported?.health == .degraded)
        let secret = try #require(try bench.current("web"))
        bench.records = oldRecords
        bench.reportedStates = oldReported
        bench.failingWrites = [:]
        bench.forget()
        bench.tell(.stateLost)
        #expect(bench.records == records && bench.reportedStates == reported)
        #expect(bench.records[web]?.delivered == [after.id: secret])
        #expect(try bench.current("web") == secret && bench.held(in: "web.jwt") == secret)
        #expect(!bench.log.contains { $0.hasPrefix("run") || $0.hasPrefix("recall") })
    }

    @Test func aStateDirectoryThatAnotherProcessHoldsIsReportedAndRetried() throws {
        let bench = try settled()
        let web = try Values.name("web")
        let failure = try Values.failure(.stateLocked, "/state")
        bench.failures = [.record(web): failure]
        bench.records = [:]
        bench.tell(.stateLost)
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure == failure)
        bench.pass(Values.day / 24)
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.view("web").health == .ok)
        #expect(bench.records[web]?.current == (try bench.current("web")))
    }

    /// It knows more than the file that is found: what was published where, and what is to run again.
    @Test func aRecordThatCannotBeReadIsNotOverwritten() throws {
        let bench = try settled()
        let web = try Values.name("web")
        let record = try #require(bench.records[web])
        bench.failures = [.record(web): try Values.failure(.stateUnusable, "/state")]
        try bench.restart(bench.rotation.configuration)
        bench.failures = [:]
        bench.records[web]?.owed = [after.id]
        bench.forget()
        bench.pass(600)
        #expect(bench.log.first == "recall web")
        #expect(bench.log.contains("run exec /bin/after for web"))
        #expect(bench.records[web] == record)
    }

    /// A state directory that is mounted read-only by mistake, at a reboot without the key.
    @Test func aRecordThatCanOnlyBeReadServesAndIsKeptLater() throws {
        let bench = try settled()
        let web = try Values.name("web")
        let first = try #require(try bench.current("web"))
        bench.disk = [:]
        bench.prints = [:]
        bench.isStateReadOnly = true
        try bench.restart(bench.rotation.configuration)
        #expect(try bench.current("web") == first && bench.held(in: "web.jwt") == first)
        #expect(try bench.view("web").health == .degraded)
        // The client shows that its key is missing, and the daemon the rest.
        #expect(try bench.view("web").reason?.failure.code == .keyMissing)
        #expect(bench.rotation.snapshot(at: bench.now).problems.map(\.failure.code) == [.stateUnusable])
        bench.prints = [try Values.key(): try Values.print("1")]
        bench.isStateReadOnly = false
        bench.forget()
        bench.pass(120)
        #expect(bench.log.contains("keep web") && !bench.log.contains { $0.hasPrefix("mint") })
        #expect(bench.records[web]?.current == first)
        #expect(try bench.view("web").health == .ok)
        #expect(bench.rotation.snapshot(at: bench.now).problems == [])
    }

    @Test func recordsOfClientsThatAreLongGoneAreTidiedAwayAfterAReload() throws {
        let bench = try Bench(["web": Values.client("web")], builtAt: Values.day)
        func tidied() -> [Work] {
            bench.works.filter { if case .tidyRecords = $0 { true } else { false } }
        }
        let place = OutputPlace(path: try Values.path("web.jwt"), slot: .whole)
        let other = OutputPlace(path: try Values.path("other.jwt"), slot: .whole)
        bench.go()
        // Nothing is tidied while the clock is not trusted.
        #expect(tidied() == [])
        bench.pass(Values.day)
        let first = Work.tidyRecords(
            keeping: [try Values.name("web")], expiredBefore: Values.moment(Values.day) - Lifetime.appleLimit,
            removed: [], outputs: [place])
        #expect(tidied() == [first])
        bench.forget()
        try bench.reload(["other": Values.client("other")])
        let second = Work.tidyRecords(
            keeping: [try Values.name("other")], expiredBefore: bench.now.wall - Lifetime.appleLimit,
            removed: [place], outputs: [other])
        #expect(tidied() == [second])
    }
}
