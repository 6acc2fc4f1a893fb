import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What a machine says of itself in the store.
struct OwnReportTests {
    private let bench: Bench
    private let web = Values.identity

    init() throws {
        bench = try Bench(try Self.configuration(), renewalJitter: 0.5)
    }

    private static func configuration(_ names: [String] = ["web"], store: String? = "etcd") throws -> Configuration {
        var clients: [String: ClientConfiguration] = [:]
        for name in names { clients[name] = try Values.client(name, actions: [Values.exec("/bin/tell")]) }
        return try Values.configuration(clients, store: store.map { SecretStore(place: $0, machine: "app17") })
    }

    /// What was put since ``Bench/forget()``.
    private var puts: [MachineReport] {
        bench.works.compactMap { if case .putReport(let report, _, _) = $0 { report } else { nil } }
    }

    private var fault: FailureCode? { bench.rotation.snapshot(at: bench.now).reason?.failure.code }

    /// A report of another machine's under the same name.
    private func intrude(revision: Int64) {
        bench.reports["app17"] = ReportObservation(
            revision: revision, report: MachineReport(at: bench.now.wall, clients: [:]))
    }

    /// Has the first report put.
    private func begin() {
        bench.go()
        bench.pass(60)
    }

    @Test func itIsPutWithinAMinuteAndThenDaily() throws {
        bench.go()
        bench.pass(29)
        #expect(puts == [])
        bench.pass(1)
        #expect(bench.reports.keys.sorted() == ["app17"])
        let holding = try #require(bench.reports["app17"]?.report?.clients[web])
        #expect(try holding.secret?.fingerprint == bench.current("web")?.fingerprint)
        #expect(holding.delivered)
        #expect(holding.failure == nil)
        bench.pass(86_400)
        #expect(puts.count == 2)
        bench.pass(86_400)
        #expect(puts.count == 3)
    }

    /// Twice within an hour, where etcd is slow.
    @Test func aReloadDuringAPutSilencesNoMachine() throws {
        bench.go()
        for _ in 1...2 {
            bench.held = [.report]
            try bench.renew(number: 7)
            bench.pass(31)
            bench.reload(try Self.configuration())
            bench.release(.report)
            bench.pass(31)
        }
        bench.forget()
        try bench.renew()
        bench.pass(31)
        #expect(puts.count == 1)
        #expect(
            try bench.reports["app17"]?.report?.clients[web]?.secret?.fingerprint == bench.current("web")?.fingerprint)
        #expect(fault == nil, "there is no other machine")
    }

    @Test func aRenewalIsReportedWithWhatWasDelivered() throws {
        begin()
        let before = try #require(puts.last)
        bench.forget()
        bench.failures[.action(Values.exec("/bin/tell").id)] = try Values.failure(.diskFull, "x")
        try bench.renew()
        bench.pass(30)
        let after = try #require(puts.last?.clients[web])
        #expect(puts.count == 1)
        #expect(after.secret != before.clients[web]?.secret)
        #expect(!after.delivered)
        #expect(after.failure == "disk_full")
        #expect(try #require(before.clients[web]?.since) < after.since)
    }

    /// It would hold the rollout although nothing is wrong here.
    @Test func anActionThatRunsOverAnExpiredSecretIsNoFailure() throws {
        let tell = Values.exec("/bin/tell").id
        let expired = try Values.issued(1, id: "com.example.web", from: -60, to: -30, signer: Values.print("1"))
        bench.records[try Values.name("web"), default: Record()].delivered = [tell: expired]
        bench.held = [.action(tell)]
        begin()
        #expect(try bench.view("web").health == .critical)
        let running = try #require(puts.last?.clients[web])
        #expect(!running.delivered && running.failure == nil)
        bench.failures = [.action(tell): Failure(.actionFailed, at: .action(tell))]
        bench.release(.action(tell))
        bench.pass(60)
        #expect(try #require(puts.last?.clients[web]).failure == "action_failed")
    }

    /// Another store ends it at once, and gets a report.
    @Test(arguments: [false, true]) func aPutThatIsForbiddenIsAFaultAndTriedAgain(isElsewhere: Bool) throws {
        bench.failures[.report] = Failure(.storeForbidden, at: .store)
        bench.go()
        bench.pass(31)
        #expect(puts.count == 1)
        #expect(try bench.view("web").health == .ok)
        #expect(fault == .storeForbidden)
        bench.pass(120)
        #expect((3...5).contains(puts.count))
        bench.failures = [:]
        if isElsewhere {
            bench.reload(try Self.configuration(store: "another"))
            #expect(fault == nil)
        }
        bench.pass(isElsewhere ? 60 : 900)
        #expect(bench.reports["app17"] != nil)
        #expect(fault == nil)
    }

    @Test func whileTheStoreIsAwayNothingIsPut() throws {
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.go()
        bench.pass(3600)
        #expect(puts == [])
        bench.failures = [:]
        bench.pass(120)
        #expect(puts.count == 1)
    }

    @Test func afterARestartItGoesOnFromItsLastReport() throws {
        begin()
        let since = try #require(puts.last?.clients[web]?.since)
        bench.pass(7200)
        try bench.restart(Self.configuration())
        bench.pass(60)
        #expect(bench.reports["app17"]?.report?.clients[web]?.since == since)
        #expect(puts.count == 2)
        #expect(fault == nil)
    }

    @Test func aClientThatAReloadRemovesIsNotReportedAnyMore() throws {
        let bench = try Bench(try Self.configuration(["web", "ios"])).started()
        bench.pass(60)
        #expect(bench.reports["app17"]?.report?.clients.count == 2)
        bench.reload(try Self.configuration())
        bench.pass(60)
        #expect(bench.reports["app17"]?.report?.clients.count == 1)
        bench.forget()
        bench.reload(try Self.configuration(store: nil))
        bench.pass(90_000)
        #expect(!bench.works.contains { if case .putReport = $0 { true } else { false } })
    }

    @Test func aFirstPutThatAReloadHasOvertakenIsRepeated() throws {
        bench.held = [.report]
        begin()
        bench.reload(try Self.configuration())
        bench.release(.report)
        bench.reports = [:]
        bench.pass(120)
        #expect(bench.reports["app17"] != nil)
        #expect(fault == nil)
    }

    @Test func aReportThatIsReplacedAllTheTimeIsNotPutAllTheTime() throws {
        begin()
        bench.forget()
        for hour in 1...60 {
            intrude(revision: 1_000_000 + Int64(hour))
            try bench.renew(number: UInt64(hour))
            bench.pass(120)
        }
        #expect((2...8).contains(puts.count), "\(puts.count) puts in two hours")
    }

    @Test func theReportOfAnInstallationBeforeIsReplaced() throws {
        intrude(revision: 5)
        bench.go()
        bench.pass(86_400)
        #expect(bench.reports["app17"]?.isOwn == true)
        #expect(fault == nil)
        // The other one, were it alive, learns of this one within an hour.
        #expect(puts.count > 20)
        bench.pass(86_400)
        bench.forget()
        bench.pass(86_400)
        #expect(puts.count == 1)
    }

    /// Until the other one is gone, or this one has a name of its own.
    @Test(arguments: [false, true]) func twoMachinesOfOneNameAreAFault(isRenamed: Bool) throws {
        begin()
        intrude(revision: 500)
        bench.pass(86_400)
        #expect(fault == .storeMachineShared)
        #expect(bench.reports["app17"]?.isOwn == true)
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure.remedy != nil)
        #expect(try bench.view("web").health == .ok)
        guard isRenamed else {
            bench.pass(100_000)
            #expect(fault == nil)
            return
        }
        var configuration = try Self.configuration()
        configuration.store?.machine = "app18"
        bench.reload(configuration)
        #expect(fault == nil)
        bench.pass(60)
        #expect(bench.reports["app18"] != nil)
    }

    /// Whichever of them is looked at.
    @Test func eachOfTwoMachinesOfOneNameSaysSo() throws {
        let other = try Bench(try Self.configuration(), renewalJitter: 0.9)
        other.storeRevision = 1_000_000
        for machine in [bench, other] { machine.go() }
        // They have one store: what one of them puts, the other one finds.
        for _ in 0..<25 * 60 {
            for (machine, neighbour) in [(bench, other), (other, bench)] {
                let before = machine.reports
                machine.pass(60)
                guard machine.reports != before, let put = machine.reports["app17"] else { continue }
                neighbour.reports["app17"] = ReportObservation(revision: put.revision, report: put.report)
                let last = max(machine.storeRevision, neighbour.storeRevision)
                machine.storeRevision = last
                neighbour.storeRevision = last
            }
        }
        for machine in [bench, other] {
            #expect(machine.rotation.snapshot(at: machine.now).reason?.failure.code == .storeMachineShared)
        }
    }

    /// It is put by the next change, although another one was replaced a minute before.
    @Test func afterAConflictAMissingReportIsPut() throws {
        begin()
        intrude(revision: 500)
        try bench.renew(number: 1)
        bench.pass(60)
        #expect(fault == .storeMachineShared)
        bench.reports = [:]
        try bench.renew(number: 2)
        bench.pass(60)
        #expect(bench.reports["app17"]?.isOwn == true)
    }

    @Test func aReloadEndsThePauseAfterAConflict() throws {
        begin()
        for number: UInt64 in [1, 2] {
            intrude(revision: 500 + Int64(number))
            try bench.renew(number: number)
            bench.pass(60)
        }
        #expect(bench.reports["app17"]?.isOwn == false)
        bench.reload(try Self.configuration())
        #expect(bench.reports["app17"]?.isOwn == true)
    }

    @Test func aRestoredBackupIsNoOtherMachine() throws {
        begin()
        let old = bench.reports["app17"]
        bench.pass(86_400)
        #expect(old != bench.reports["app17"])
        bench.reports["app17"] = old
        bench.pass(86_400)
        #expect(puts.count == 4)
        #expect(bench.reports["app17"] != old)
        #expect(fault == nil)
    }

    @Test func aPutWithoutAnAnswerIsNoOtherMachine() throws {
        begin()
        bench.forget()
        bench.held = [.report]
        bench.pass(86_400)
        let put = try #require(puts.last)
        bench.reports["app17"] = ReportObservation(revision: 900, report: put, isOwn: true)
        bench.fail(.report, Failure(.storeTimedOut, at: .store))
        bench.pass(120)
        #expect(bench.reports["app17"]?.revision != 900)
        #expect(fault == nil)
    }
}
