import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What a signer knows of the machines that report.
struct FleetReportsTests {
    private let bench: Bench
    private let web: ClientName
    private let identity = Values.identity
    private static let day: Int64 = 86_400

    init() throws {
        web = try Values.name("web")
        bench = try Bench(try Self.configuration())
        bench.go()
    }

    private static func configuration(isShared: Bool = true) throws -> Configuration {
        var client = try Values.client("web")
        client.isShared = isShared
        return try Values.configuration(["web": client], store: SecretStore(place: "etcd", machine: "signer"))
    }

    private var current: Fingerprint { get throws { try #require(try bench.current("web")?.fingerprint) } }

    private func fleet(all: Bool = false) throws -> FleetClientView {
        bench.pass(31)
        return try bench.fleet(all: all)
    }

    private func states(all: Bool = false) throws -> [String] {
        try fleet(all: all).machines.map { "\($0.machine) \($0.state.rawValue)" }
    }

    /// Its configuration no longer has the client; it goes on reporting its others.
    @Test func aMachineThatNoLongerHasTheClientIsNotMissing() throws {
        for machine in ["a", "b", "c"] { bench.report(machine, try current) }
        _ = try fleet()
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 0)
        bench.reports["b"] = ReportObservation(
            revision: 20_000, report: MachineReport(at: bench.now.wall, clients: [:]))
        bench.reports["c"] = nil
        _ = try fleet()
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 1, "c may be back at any moment")
    }

    /// A report has room for some 85 clients: what it has no room for is not gone from the machine.
    @Test func aClientThatAReportHasNoRoomForIsKnownByTheLastOneThatNamedIt() throws {
        let other = ClientIdentity(team: identity.team, client: try #require(ClientID("com.example.other")))
        func leaveOut(_ machine: String, _ leftOut: MachineReport.LeftOut, revision: Int64) throws {
            let holding = MachineReport.Holding(secret: nil, since: bench.now.wall, delivered: true, failure: nil)
            bench.reports[machine] = ReportObservation(
                revision: revision,
                report: MachineReport(at: bench.now.wall, clients: [other: holding], leftOut: leftOut))
        }
        for machine in ["a", "b"] { bench.report(machine, try current, delivered: false) }
        func states() throws -> [String] {
            try fleet(all: true).machines.filter { $0.machine != "signer" }.sorted { $0.machine < $1.machine }.map {
                "\($0.machine) \($0.state.rawValue)" + ($0.holding.delivered ? ", delivered" : "")
            }
        }
        #expect(try states() == ["a current", "b current"])
        try leaveOut("a", .settled, revision: 20_000)
        try leaveOut("b", .any, revision: 20_001)
        #expect(try states() == ["a current, delivered", "b current"])
        #expect(bench.rotation.fleet.known.missing(identity) == 0)
        // A signer that starts then knows nothing of what they hold.
        try bench.restart(Self.configuration())
        #expect(try states() == [])
    }

    @Test func eachMachineIsInOneState() throws {
        bench.report("a", try current)
        bench.report("b", try current, delivered: false)
        bench.report("c", Fingerprint(leadingBytes: 1))
        bench.report("d", nil)
        bench.report("e", try current, failure: "disk_full")
        bench.report("f", try current, ago: 2 * Self.day)
        bench.reports["junk"] = ReportObservation(revision: 3, report: nil)
        // What was there before the start is judged by what it says.
        try bench.restart(Self.configuration())
        let view = try fleet()
        // This machine itself reports as well.
        #expect(view.counts.hosts == 7)
        #expect(view.counts[.current] == 3)
        #expect(view.counts.delivered == 3)
        #expect(view.held == 4)
        #expect(view.counts[.behind] == 2)
        #expect(view.counts[.failing] == 1)
        #expect(view.counts[.silent] == 1)
        #expect(try view.fingerprint == current)
        #expect(view.machines.map(\.machine) == ["e", "c", "d", "f"])
        let all = try states(all: true)
        #expect(all.prefix(4) == ["e failing", "c behind", "d behind", "f silent"])
        #expect(all.dropFirst(4).sorted() == ["a current", "b current", "signer current"])
    }

    /// Their certificates for etcd expire soon, which says nothing of the secret.
    @Test func machinesThatFailCountByTheSecretThatTheyHold() throws {
        bench.report("a", try current, failure: "store_certificate_expiring")
        bench.report("b", try current, delivered: false, failure: "store_certificate_expiring")
        bench.report("c", Fingerprint(leadingBytes: 1), failure: "store_certificate_expiring")
        let view = try fleet()
        #expect(view.counts.hosts == 4)
        #expect(view.counts[.failing] == 3)
        #expect(view.held == 3)
        #expect(view.counts.delivered == 2)
        #expect(!view.haveAllDelivered)
        bench.report("b", try current, failure: "store_certificate_expiring")
        bench.report("c", try current, failure: "store_certificate_expiring")
        #expect(try fleet().haveAllDelivered)
    }

    @Test func aRenewalLeavesThemBehind() throws {
        bench.report("a", try current)
        #expect(try states() == [])
        bench.pass(300)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 2)
        #expect(bench.rotation.snapshot(at: bench.now).fleet[web]?[.current] == 0)
        #expect(try states().contains("a behind"))
        bench.report("a", try current)
        bench.pass(300)
        #expect(bench.rotation.snapshot(at: bench.now).fleet[web]?[.current] == 2)
    }

    /// After a backup was restored etcd counts on from an earlier revision.
    @Test func anotherReportMayHaveTheRevisionOfAnEarlierOne() throws {
        bench.report("a", try current)
        #expect(try states() == [])
        let revision = try #require(bench.reports["a"]?.revision)
        bench.report("a", Fingerprint(leadingBytes: 1))
        bench.reports["a"] = ReportObservation(revision: revision, report: bench.reports["a"]?.report)
        #expect(try states() == ["a behind"])
    }

    @Test func theyAreReadEveryFiveMinutesAndOnRequest() throws {
        bench.pass(300)
        bench.forget()
        bench.pass(3000)
        #expect(bench.readings == 10)
        bench.forget()
        bench.held = [.fleet]
        bench.pass(31)
        bench.ask(.fleet(all: true), 1)
        bench.ask(.fleet(all: true), 2)
        #expect(bench.readings == 1)
        #expect(bench.answer(1) == nil)
        bench.release(.fleet)
        #expect(bench.answer(1) != nil)
        #expect(bench.answer(2) != nil)
        // What was read just now is new enough.
        bench.forget()
        bench.ask(.fleet(all: true), 3)
        #expect(bench.answer(3) != nil)
        #expect(bench.readings == 0)
    }

    @Test func aRequestWithoutAnAnswerGetsTheReason() throws {
        let failure = Failure(.storeUnreachable, at: .store)
        bench.pass(31)
        bench.failures[.fleet] = failure
        bench.ask(.fleet(all: false))
        #expect(bench.answer() == .noFleet(failure))
        let home = try Bench(try Self.configuration(isShared: false)).started()
        home.ask(.fleet(all: false))
        #expect(home.answer() == .noFleet(nil))
        #expect(home.works.allSatisfy { if case .readReports = $0 { false } else { true } })
    }

    @Test func aClockThatIsBehindMakesNoReportingMachineSilent() throws {
        bench.report("slow", try current, ago: 400 * Self.day)
        try bench.restart(Self.configuration())
        #expect(try states() == ["slow silent"])
        // A report that changes is a sign of life, whatever it says of the time.
        bench.report("slow", try current, ago: 400 * Self.day)
        #expect(try states() == [])
        bench.pass(2 * Self.day)
        #expect(try states() == ["slow silent"])
        // Nor is one that reports daily forgotten.
        for _ in 0..<15 {
            bench.sleep(Self.day)
            bench.report("slow", try current, ago: 400 * Self.day)
        }
        bench.pass(600)
        #expect(bench.reports["slow"] != nil)
    }

    @Test func aClockThatIsAheadKeepsNoSilentMachineCurrent() throws {
        bench.report("fast", try current, ago: -400 * Self.day)
        #expect(try states() == [])
        bench.sleep(2 * Self.day)
        #expect(try states() == ["fast silent"])
        bench.sleep(13 * Self.day)
        #expect(bench.reports["fast"] == nil)
    }

    /// Nor when the time has come that its report names.
    @Test func aReportOfTheFutureDoesNotBecomeTrueLater() throws {
        bench.report("a", try current, ago: -3 * Self.day)
        try bench.restart(Self.configuration())
        bench.pass(2 * Self.day)
        #expect(try states() == ["a silent"])
        bench.pass(Self.day + 600)
        #expect(try states() == ["a silent"])
    }

    @Test func aMachineThatIsSilentForTwoWeeksIsForgotten() throws {
        bench.report("a", try current, ago: 100 * Self.day)
        bench.reports["b"] = ReportObservation(revision: 7, report: nil)
        bench.pass(600)
        bench.sleep(13 * Self.day)
        bench.report("c", try current)
        #expect(bench.reports.keys.sorted() == ["a", "b", "c", "signer"])
        bench.sleep(Self.day + 600)
        #expect(bench.reports.keys.sorted() == ["c", "signer"])
        #expect(try fleet().counts.hosts == 2)
    }

    /// A signer that is restarted each week forgets as well.
    @Test func aMachineSilentForTwoWeeksBeforeTheStartIsForgottenAfterADay() throws {
        bench.report("a", try current, ago: 15 * Self.day)
        bench.report("young", try current, ago: 12 * Self.day)
        // Nothing but what is seen of these counts: one may report with a clock that is wrong, or in another version.
        bench.report("fast", try current, ago: -15 * Self.day)
        bench.reports["unreadable"] = ReportObservation(revision: 7, report: nil)
        try bench.restart(Self.configuration())
        bench.sleep(Self.day)
        #expect(bench.reports.keys.sorted() == ["a", "fast", "signer", "unreadable", "young"])
        bench.sleep(Self.day / 12 + 600)
        #expect(bench.reports.keys.sorted() == ["fast", "signer", "unreadable", "young"])
        bench.sleep(Self.day)
        #expect(bench.reports.keys.sorted() == ["fast", "signer", "unreadable"])
        bench.sleep(12 * Self.day)
        #expect(bench.reports.keys.sorted() == ["signer"])
    }

    @Test func reportsOfAnAddedClientAreReadAtOnce() throws {
        bench.pass(60)
        bench.forget()
        var configuration = try Self.configuration()
        configuration.clients[try Values.name("native")] = try Values.client("native")
        bench.reload(configuration)
        bench.pass(1)
        #expect(bench.readings == 1)
    }

    /// Years ahead, as without a battery.
    @Test func aDistrustedClockForgetsNoMachine() throws {
        let years: Int64 = 16 * 366 * Self.day
        bench.report("off", try current, ago: 2 * Self.day)
        bench.isSynced = false
        bench.step(years)
        try bench.restart(Self.configuration())
        #expect(fault?.code == .clockPerhapsAhead)
        bench.sleep(2 * Self.day)
        #expect(bench.reports["off"] != nil)
        bench.isSynced = true
        bench.step(-years)
        bench.sleep(11 * Self.day)
        #expect(bench.reports["off"] == nil)
    }

    /// Its removal by this one is answered too late, or another signer is first.
    @Test func aForgottenMachineIsNotMissing() throws {
        bench.report("a", try current)
        bench.report("b", try current)
        bench.pass(600)
        bench.failingForgets = Failure(.storeUnreachable, at: .store)
        bench.sleep(13 * Self.day)
        bench.report("b", try current)
        bench.sleep(Self.day + 600)
        #expect(bench.reports["a"] != nil)
        bench.reports["a"] = nil
        _ = try fleet()
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 0)
        bench.reports["b"] = nil
        _ = try fleet()
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 1, "b may be back at any moment")
    }

    /// An alert that waits for a day must not begin anew with each read that fails.
    @Test func theLastReportsAreShownWhileNoneCanBeRead() throws {
        var shown: [ClientName: FleetCounts] { bench.rotation.snapshot(at: bench.now).fleet }
        bench.report("a", Fingerprint(leadingBytes: 1))
        bench.pass(400)
        let counts = shown
        #expect(counts[web]?[.behind] == 1)
        bench.failures[.fleet] = Failure(.storeUnreachable, at: .store)
        bench.pass(3600)
        bench.ask(.fleet(all: false))
        #expect(bench.answer() == .noFleet(Failure(.storeUnreachable, at: .store)))
        #expect(shown == counts)
        // Nothing is known of who holds another secret.
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 2)
        #expect(shown == counts)
        bench.failures = [:]
        bench.reports["a"] = nil
        bench.pass(1800)
        #expect(shown[web]?[.behind] == 0)
    }

    private var fault: Failure? { bench.rotation.snapshot(at: bench.now).reason?.failure }

    /// Until they may be, or need not be read any more.
    @Test(arguments: [false, true]) func reportsThatMustNotBeReadAreAFault(isReloaded: Bool) throws {
        let failure = Failure(.storeForbidden, at: .store, detail: "the reports")
        bench.failures[.fleet] = failure
        bench.pass(300)
        #expect(fault == failure)
        #expect(try bench.view("web").health == .ok)
        // Its own report may be put, which says nothing of reading.
        bench.pass(2 * Self.day)
        #expect(fault == failure)
        if isReloaded {
            bench.reload(try Self.configuration(isShared: false))
        } else {
            bench.failures = [:]
            bench.pass(1800)
        }
        #expect(fault == nil)
    }

    /// They are read meanwhile.
    @Test func reportsThatMustNotBeRemovedAreAFaultUntilTheyAre() throws {
        let failure = Failure(.storeForbidden, at: .store, detail: "the report of a")
        bench.report("a", try current, ago: 100 * Self.day)
        bench.failingForgets = failure
        bench.pass(600)
        bench.sleep(14 * Self.day + 600)
        #expect(fault == failure)
        bench.forget()
        bench.pass(Self.day)
        #expect(fault == failure)
        let tries = bench.works.count { if case .forgetReport = $0 { true } else { false } }
        #expect((1...2).contains(tries))
        #expect((250...450).contains(bench.readings))
        #expect(try states() == ["a silent"])
        bench.failingForgets = nil
        bench.pass(2 * Self.day)
        #expect(bench.reports["a"] == nil)
        #expect(fault == nil)
    }
}
