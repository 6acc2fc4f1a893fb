import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Notifying operators: `on_state_change`.
@Suite struct StateChangeActionsTests {
    private let web = "web"
    private let pager = Action.unit(verb: .start, unit: "notice@%s.service")

    private var path: AbsolutePath { get throws { try Values.path("web.jwt") } }

    private func configuration(_ actions: [Action]? = nil, client: ClientConfiguration? = nil) throws -> Configuration {
        try Values.configuration([web: try client ?? Values.client(web)], onStateChange: actions ?? [pager])
    }

    private func settled(_ actions: [Action]? = nil) throws -> Bench {
        try Bench(try configuration(actions)).settled()
    }

    /// The states reported since ``Bench/forget()``, from the unit's instance.
    private func reported(_ bench: Bench) -> [String] {
        bench.log.filter { $0.hasPrefix("notify start notice@") }
            .map { String($0.dropFirst("notify start notice@".count).dropLast(".service".count)) }
    }

    /// Makes the client degraded; `fix` makes it ok.
    private func spoil(_ bench: Bench) throws {
        try bench.failWrites(of: "web.jwt")
        bench.disk[try path]?.isAsConfigured = false
        try bench.debounce("web.jwt")
    }

    private func fix(_ bench: Bench) throws {
        bench.failingWrites = [:]
        bench.ask(.renew(.init(deliverOnly: true)), 99)
    }

    @Test func aChangeIsReportedOnceItHasLastedHalfAMinute() throws {
        let bench = try settled()
        try spoil(bench)
        #expect(try bench.view(web).health == .degraded)
        bench.pass(29)
        #expect(reported(bench) == [])
        bench.pass(1)
        #expect(reported(bench) == ["degraded"])
        #expect(bench.entries.contains(.ranStateChangeAction(pager.naming(.degraded).id)))
        bench.pass(Values.day)
        #expect(reported(bench) == ["degraded"])
        try fix(bench)
        bench.pass(30)
        #expect(reported(bench) == ["degraded", "ok"])
    }

    @Test func nothingIsReportedBeforeEveryClientWasTried() throws {
        let bench = try Bench(try configuration())
        bench.held = [.key(try Values.key())]
        bench.tell(.faultRaised(Failure(.socketUnusable, at: .named("/run/s"))))
        bench.pass(29)
        // Each job ends within its 30 s, but two run one after the other: the report waits for both.
        let clients = bench.rotation.configuration.clients.keys.map(Resource.client)
        bench.held.formUnion(clients)
        bench.release(.key(try Values.key()))
        bench.pass(29)
        #expect(reported(bench) == [])
        for client in clients { bench.release(client) }
        #expect(reported(bench) == ["degraded"])
    }

    @Test func theStateStandsForEveryPlaceholderButNotInTheProgramsName() throws {
        let exec = Action.exec(arguments: ["/bin/%s", "--state=%s%s", ""], timeout: 5)
        #expect(
            exec.naming(.critical) == .exec(arguments: ["/bin/%s", "--state=criticalcritical", ""], timeout: 5))
        #expect(
            Action.signal(unit: "a@%s.service", signal: "SIGHUP").naming(.ok)
                == .signal(unit: "a@ok.service", signal: "SIGHUP"))
        #expect(pager.naming(.degraded) == .unit(verb: .start, unit: "notice@degraded.service"))
    }

    // MARK: A secret that runs out

    @Test func aSecretThatRunsOutIsReportedAtWarningCriticalAndExpired() throws {
        let bench = try settled()
        bench.held = [.client(try Values.name(web))]
        bench.pass(60 * Values.day + 29)
        #expect(reported(bench) == [])
        bench.pass(1)
        // By now the job that mints counts as hung.
        #expect(reported(bench) == ["degraded"])
        bench.pass(20 * Values.day - 1)
        #expect(reported(bench) == ["degraded"])
        bench.pass(1)
        #expect(reported(bench) == ["degraded", "critical"])
        bench.pass(10 * Values.day - 1)
        #expect(reported(bench) == ["degraded", "critical"])
        bench.pass(1)
        #expect(reported(bench) == ["degraded", "critical", "critical"])
        bench.pass(10 * Values.day)
        #expect(reported(bench).count == 3)
        bench.release(.client(try Values.name(web)))
        bench.pass(30)
        #expect(reported(bench) == ["degraded", "critical", "critical", "ok"])
    }

    @Test func aSecretThatRunsOutInABadStateIsReportedToo() throws {
        // A short lifetime, because minting is retried every minute.
        let client = try Values.client(web, lifetime: 5400, renewBefore: 1800)
        let bench = try Bench(try configuration(client: client)).started()
        bench.failures = [.client(try Values.name(web)): Failure(.signingFailed, at: .key(try Values.key()))]
        bench.tell(.faultRaised(Failure(.socketUnusable, at: .named("/run/s"))))
        bench.pass(3600 + 29)
        #expect(reported(bench) == ["degraded"])
        bench.pass(1)
        #expect(reported(bench) == ["degraded", "degraded"])
    }

    /// The application still has a secret of the former client id, because its action fails.
    @Test func aRefusedSecretThatRunsOutIsReportedToo() throws {
        let hook = Values.exec("/bin/after")
        func client(_ id: String) throws -> ClientConfiguration {
            try Values.client(web, id: id, lifetime: 5400, renewBefore: 1800, actions: [hook])
        }
        let bench = try Bench(try configuration(client: client("com.example.wrong"))).started()
        bench.failures = [.action(hook.id): Failure(.actionFailed, at: .action(hook.id))]
        bench.reload(try configuration(client: client("com.example.web")))
        bench.pass(3600 + 29)
        #expect(try bench.view(web).health == .critical)
        #expect(reported(bench) == ["critical"])
        bench.pass(1)
        #expect(reported(bench) == ["critical", "critical"])
        // Critical by its age, and then expired.
        bench.pass(1800)
        #expect(reported(bench) == ["critical", "critical", "critical", "critical"])
    }

    @Test func theNextSecretIsReportedAgain() throws {
        let bench = try settled()
        let minting = Resource.client(try Values.name(web))
        func replaceTwoLate() {
            for _ in 0..<2 {
                bench.held = [minting]
                bench.pass(61 * Values.day)
                bench.release(minting)
                bench.pass(Values.day)
            }
        }
        replaceTwoLate()
        #expect(reported(bench) == ["degraded", "ok", "degraded", "ok"])
        // The same while the health is bad all along, so that its changes report nothing.
        bench.tell(.faultRaised(Failure(.socketUnusable, at: .named("/run/s"))))
        bench.pass(60)
        bench.forget()
        replaceTwoLate()
        #expect(reported(bench) == ["degraded", "degraded"])
    }

    @Test func aSecretThatASuspendLetExpireIsNotReportedIfReplacedAtOnce() throws {
        let bench = try settled()
        bench.step(100 * Values.day)
        bench.pass(3600)
        #expect(try bench.view(web).health == .ok)
        #expect(reported(bench) == [])
    }

    // MARK: Rate limit and failures

    @Test func anActionRunsFourTimesAnHourAtMostAndThenReportsTheCurrentState() throws {
        let bench = try settled()
        let failure = Failure(.socketUnusable, at: .named("/run/s"))
        // Reported at 30, 90, 150 and 210 s.
        for _ in 0..<4 {
            bench.tell(.faultRaised(failure))
            bench.pass(60)
            bench.tell(.faultCleared(failure.code))
            bench.pass(60)
        }
        #expect(reported(bench) == ["degraded", "ok", "degraded", "ok"])
        bench.tell(.faultRaised(failure))
        bench.pass(3600 + 29 - 480)
        #expect(reported(bench).count == 4)
        bench.pass(1)
        #expect(reported(bench) == ["degraded", "ok", "degraded", "ok", "degraded"])
        bench.tell(.faultCleared(failure.code))
        bench.pass(59)
        #expect(reported(bench).count == 5)
        bench.pass(1)
        #expect(reported(bench).count == 6)
        #expect(reported(bench).last == "ok")
    }

    @Test func aFailedActionIsRepeatedAndTheOthersAreNot() throws {
        let other = Values.exec("/bin/other")
        let bench = try settled([pager, other])
        let failure = Failure(.actionFailed, at: .action(pager.id), detail: "exit status 1")
        bench.failures = [.stateChangeAction(pager.id): failure]
        try spoil(bench)
        bench.pass(30)
        #expect(
            bench.log.filter { $0.hasPrefix("notify") } == [
                "notify start notice@degraded.service", "notify exec /bin/other",
            ])
        #expect(
            bench.entries.contains { if case .failing(.stateChangeAction, failure, _, _) = $0 { true } else { false } })
        try fix(bench)
        // Failing to notify operators degrades the whole daemon, but is not itself reported.
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.health == .degraded)
        #expect(snapshot.reason?.failure == failure)
        #expect(try bench.view(web).health == .ok)
        bench.failures = [:]
        bench.pass(3600)
        #expect(reported(bench).suffix(1) == ["ok"])
        #expect(bench.log.filter { $0 == "notify exec /bin/other" }.count == 2)
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
    }

    // MARK: Over a restart

    /// systemd ends the program together with the daemon, and it may exit with 0 then.
    @Test func whatTheDaemonsEndInterruptsRunsAgain() throws {
        let program = Values.exec("/bin/page")
        let bench = try settled([program])
        bench.held = [.stateChangeAction(program.id)]
        try spoil(bench)
        bench.pass(30)
        bench.tell(.stop)
        bench.held = []
        try bench.end(.stateChangeAction(program.id), .success(.ran))
        bench.go()
        #expect(bench.lastStep.ended)
        bench.forget()
        try bench.restart(configuration([program]))
        #expect(bench.log.contains("notify exec /bin/page"))
    }

    @Test func aRenewalInTimeIsNoNews() throws {
        let bench = try settled()
        bench.pass(400 * Values.day)
        #expect(reported(bench) == [])
        #expect(try bench.view(web).renewals > 5)
    }

    @Test func aKillWhileTheActionRunsHasItRunAgain() throws {
        let bench = try settled()
        bench.held = [.stateChangeAction(pager.id)]
        try spoil(bench)
        bench.pass(30)
        #expect(reported(bench) == ["degraded"])
        bench.held = []
        try bench.restart(configuration())
        #expect(reported(bench) == ["degraded"])
        bench.pass(Values.day)
        #expect(reported(bench) == ["degraded"])
    }

    @Test func aRestartDoesNotGrantFourMore() throws {
        let bench = try settled()
        for _ in 0..<2 {
            try spoil(bench)
            bench.pass(60)
            try fix(bench)
            bench.pass(60)
        }
        #expect(reported(bench).count == 4)
        bench.step(-Values.day)
        try bench.restart(configuration())
        try spoil(bench)
        bench.pass(1800)
        #expect(reported(bench) == [])
        bench.pass(1800)
        #expect(reported(bench) == ["degraded"])
    }

    /// Starts of actions are kept in whole seconds; the lost fraction must not allow a fifth within an hour.
    @Test func aRestartDoesNotGrantOneMoreByAFractionOfASecond() throws {
        let bench = try settled()
        bench.boot(after: 900)
        try spoil(bench)
        let first = bench.boot + 30_000
        for _ in 0..<2 {
            bench.pass(60)
            try fix(bench)
            bench.pass(60)
            try spoil(bench)
        }
        bench.boot(after: 150)
        try bench.restart(configuration())
        bench.pass((first + 3_600_000 - bench.boot) / 1000)
        #expect(reported(bench) == [])
        bench.pass(1)
        #expect(reported(bench) == ["degraded"])
    }

    @Test func aStateDirectoryThatCannotBeUsedSilencesNoAlert() throws {
        let bench = try Bench(try configuration())
        bench.failures = [.state: Failure(.stateUnusable, at: .named("/var/lib/clientsecretd"))]
        bench.go()
        try spoil(bench)
        bench.pass(60)
        #expect(reported(bench) == ["degraded"])
    }

    /// What is assumed until then would hide that all is well again.
    @Test func aStateThatCannotBeReadAtTheStartIsReadLater() throws {
        let bench = try settled()
        try spoil(bench)
        bench.pass(30)
        #expect(reported(bench) == ["degraded"])
        bench.failingWrites = [:]
        bench.failures = [.state: Failure(.stateUnusable, at: .named("/var/lib/clientsecretd"))]
        try bench.restart(configuration())
        bench.pass(10)
        bench.failures = [:]
        bench.pass(60)
        #expect(reported(bench) == ["ok"])
        #expect(bench.reportedStates?.health == .ok)
    }

    /// Its secret was seen to be fresh before the states of the last run were read.
    @Test func aStageIsReportedAgainAlthoughTheStatesWereReadLate() throws {
        let web = try Values.name(web)
        var critical = ReportedStates()
        critical.stages[web] = .critical
        func now(_ seconds: Int64) -> Now {
            Now(wall: Values.moment(seconds), boot: BootTime(milliseconds: seconds * 1000), kernelSynced: true)
        }
        var actions = StateChangeActions()
        actions.see(.fresh, of: web, at: now(0).boot)
        actions.recall(critical, try configuration(), by: .first, at: now(1))
        actions.see(.critical, of: web, at: now(2).boot)
        var timer = WakeTimer(now: now(32))
        #expect(actions.hasNews(&timer))
    }

    @Test func aStateDirectoryThatDoesNotRespondSilencesNoAlertForLong() throws {
        let bench = try Bench(try configuration())
        bench.held = [.state]
        bench.go()
        try spoil(bench)
        bench.pass(70)
        #expect(reported(bench) == ["degraded"])
        // The state recalled late is older than what was reported since.
        bench.release(.state)
        bench.pass(Values.day)
        #expect(reported(bench) == ["degraded"])
        #expect(bench.reportedStates?.health == .degraded)
    }

    // MARK: Another configuration

    @Test func anActionThatIsAddedLearnsWhatStands() throws {
        let bench = try settled([])
        try spoil(bench)
        bench.pass(60)
        bench.reload(try configuration())
        bench.pass(30)
        #expect(reported(bench) == ["degraded"])
    }

    @Test func runningOnceReportsNothing() throws {
        let bench = try Bench(try configuration(), once: true)
        try bench.failWrites(of: "web.jwt")
        bench.go()
        bench.pass(60)
        #expect(reported(bench) == [])
        #expect(bench.lastStep.ended)
    }
}
