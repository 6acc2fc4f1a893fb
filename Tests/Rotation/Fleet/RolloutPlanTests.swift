import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// How a signer lets the machines of its fleet deliver.
struct RolloutPlanTests {
    private let bench: Bench
    private let place = Values.place()
    private let web: ClientName
    /// Of a fleet.
    private static let machines = (1...40).map { "app\($0)" }

    init() throws {
        web = try Values.name("web")
        bench = try Bench(try Self.configuration())
    }

    private static func configuration(
        _ rollout: RolloutConfiguration? = .standard, store: String = "etcd"
    ) throws -> Configuration {
        var client = try Values.client("web")
        client.rollout = rollout
        return try Values.configuration(["web": client], store: SecretStore(place: store, machine: "signer"))
    }

    private var rollout: Rollout { get throws { try #require(bench.rollouts[place]?.rollout) } }

    private var current: Fingerprint { get throws { try #require(try bench.current("web")?.fingerprint) } }

    /// The fleet in the order in which it is admitted to the secret in force.
    private var ranked: [String] {
        get throws {
            let current = try current
            return Self.machines.sorted { RolloutRank.of($0, current) < RolloutRank.of($1, current) }
        }
    }

    /// Who is admitted, by rank.
    private var admitted: [String] {
        get throws {
            let rollout = try rollout
            return try ranked.filter { RolloutRank.of($0, rollout.secret.fingerprint) <= rollout.admitted }
        }
    }

    /// All machines hold and have delivered what is there; then something new is minted, which they hold.
    private func renew() throws {
        bench.go()
        let first = try current
        for machine in Self.machines { bench.report(machine, first) }
        bench.pass(700)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 99)
        #expect(try current != first)
        for machine in Self.machines { bench.report(machine, try current, delivered: false) }
        bench.forget()
    }

    @Test func theCanaryIsPutInOneTransactionWithTheSecret() throws {
        try renew()
        #expect(try admitted == [ranked[0]])
        #expect(try rollout.secret.fingerprint == current)
        #expect(try rollout.state == .going)
        let revision = try #require(bench.rollouts[place]?.revision)
        #expect(try bench.store[place] == .secret(#require(try bench.current("web")), revision: revision))
    }

    /// No machine has the secret, and the canaries will come first.
    @Test func whileTheStoreIsUnreachableNoMachineIsAdmitted() throws {
        try renew()
        bench.report(try ranked[0], try current)
        bench.pass(700)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .going)
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.failures[.rollout(web)] = Failure(.storeUnreachable, at: .store)
        bench.pass(61)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 1)
        bench.pass(60)
        let view = try #require(bench.rotation.snapshot(at: bench.now).rollouts[web])
        #expect(view.state == .waiting)
        #expect(view.share == 0)
        bench.failures = [:]
        bench.pass(300)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .going)
        #expect(try rollout.secret.fingerprint == current)
    }

    /// A new secret that all machines wait for, and whose put is on its way to a store that does not respond.
    private func renewOnItsWay() throws {
        try renew()
        bench.held = [.share(web)]
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 98)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .waiting)
        bench.forget()
    }

    /// The put on its way fails, and so does everything that follows.
    private func loseStore(_ failure: Failure) {
        bench.failures = [.store: failure, .share(web): failure, .rollout(web): failure]
        bench.release(.share(web))
        bench.pass(120)
    }

    @Test(arguments: RolloutOrder.allCases)
    func anOrderToARolloutThatWaitsIsPutWithIt(_ order: RolloutOrder) throws {
        try renewOnItsWay()
        bench.ask(.rollout(web, order), 1)
        #expect(bench.answer(1) == nil)
        loseStore(Failure(.storeUnreachable, at: .store))
        #expect(bench.answer(1) == nil)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .waiting)
        // The same for one that comes later.
        bench.ask(.rollout(web, order), 2)
        #expect(bench.answer(2) == nil)
        bench.failures = [:]
        bench.pass(400)
        for request: UInt64 in [1, 2] {
            let view = try bench.answer(request) { if case .rollout(let view) = $0 { view } else { nil } }
            #expect(order.isDone(in: view.state))
        }
        let current = try current
        let puts: [Rollout] = bench.works.compactMap { work -> Rollout? in
            if case .putRollout(_, let rollout, _, _, _) = work { rollout } else { nil }
        }.filter { $0.secret.fingerprint == current }
        #expect(!puts.isEmpty)
        switch order {
        case .hold: #expect(puts.allSatisfy { $0.state == .held && $0.admitted == 0 })
        case .resume: #expect(puts.allSatisfy { $0.state == .going && !$0.admitsAll })
        case .finish: #expect(puts.allSatisfy { $0.isFinished && $0.isOrdered })
        }
    }

    @Test func anOrderToARolloutThatWaitsEndsWithItsSecret() throws {
        try renewOnItsWay()
        bench.ask(.rollout(web, .hold), 1)
        loseStore(Failure(.storeUnreachable, at: .store))
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 2)
        #expect(bench.answer(1) == .rolloutOvertaken)
        bench.failures = [:]
        bench.pass(400)
        #expect(try rollout.secret.fingerprint == current)
        #expect(try rollout.state == .going)
    }

    /// It would be carried out when no operator expects it, and its request would be kept until then.
    @Test func anOrderToARolloutWaitsForMinutesOnly() throws {
        try renewOnItsWay()
        let failure = Failure(.storeUnreachable, at: .store)
        loseStore(failure)
        bench.ask(.rollout(web, .finish), 1)
        bench.pass(500)
        #expect(bench.answer(1) == nil)
        bench.pass(90)
        #expect(bench.answer(1) == .noRollout(failure))
        bench.failures = [:]
        bench.pass(400)
        #expect(try rollout.secret.fingerprint == current)
        #expect(try !rollout.admitsAll)
    }

    /// It would be carried out whenever an operator has mended that.
    @Test func anOrderToARolloutThatTheStoreRefusesIsNotKept() throws {
        try renewOnItsWay()
        let refusal = Failure(.storeForbidden, at: .store)
        loseStore(refusal)
        bench.ask(.rollout(web, .finish), 1)
        #expect(bench.answer(1) == .noRollout(refusal))
        bench.failures = [:]
        bench.pass(700)
        #expect(try rollout.secret.fingerprint == current)
        #expect(try rollout.state == .going)
        #expect(try !rollout.admitsAll)
    }

    @Test func itIsShownFromTheStart() throws {
        let bench = try Bench(try Self.configuration())
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.go()
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .waiting)
    }

    @Test func withoutTheSettingThereIsNone() throws {
        let bench = try Bench(try Self.configuration(nil)).started()
        bench.pass(600)
        #expect(bench.rollouts == [:])
        #expect(bench.rotation.snapshot(at: bench.now).rollouts == [:])
    }

    @Test func thenItPausesAndGoesOnInSteps() throws {
        try renew()
        let ranked = try ranked
        let puts = try #require(bench.rotation.snapshot(at: bench.now).store).puts.successes
        bench.report(ranked[0], try current)
        bench.pass(590)
        #expect(try admitted.count == 1, "the pause was cut short")
        var seen = 1
        for _ in 0..<60 where seen < 40 {
            bench.pass(35)
            let admitted = try admitted
            let pending = admitted.count - seen
            #expect(pending <= 2, "five percent of forty are two")
            for machine in admitted { bench.report(machine, try current) }
            seen = admitted.count
        }
        #expect(seen == 40)
        #expect(try #require(bench.rotation.snapshot(at: bench.now).store).puts.successes > puts)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.share == 1)
        // A machine that has not reported in a day is silent. Before that one may be there that nobody knows.
        bench.pass(93_600)
        #expect(try rollout.isFinished)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.state == .finished)
    }

    @Test func aCanaryThatFailsHoldsIt() throws {
        try renew()
        bench.report(try ranked[0], try current, delivered: false, failure: "action_failed")
        bench.pass(60)
        #expect(try rollout.state == .held)
        let reason = try #require(try bench.view("web").reason)
        #expect(reason.failure.code == .rolloutHeld)
        #expect(reason.failure.message.contains(try ranked[0]))
        #expect(try bench.view("web").health == .degraded)
        bench.pass(3600)
        // What it says weighs more than that it says nothing else.
        #expect(try shown() == ["\(ranked[0]) failing"])
        bench.pass(82_800)
        #expect(try admitted.count == 1)
    }

    /// What it lacks of the store, or that it fails without having been admitted.
    @Test(arguments: [(0, "store_certificate_expiring"), (5, "disk_full")])
    func aFailureUnrelatedToTheAdmittedSecretHoldsNothing(rank: Int, failure: String) throws {
        try renew()
        bench.report(try ranked[rank], try current, delivered: false, failure: failure)
        bench.pass(60)
        #expect(try rollout.state == .going)
    }

    @Test func aSilentCanaryIsReplaced() throws {
        try renew()
        bench.pass(630)
        #expect(try admitted.count == 2)
        bench.report(try ranked[1], try current)
        bench.pass(700)
        #expect(try admitted.count == 4)
    }

    /// It holds the secret, so that nothing else would name it before it was silent for a day.
    @Test func aMachineThatIsNotWaitedForIsSilent() throws {
        try renew()
        let (lost, next) = (try ranked[0], try ranked[1])
        #expect(bench.rotation.snapshot(at: bench.now).fleet[web]?[.silent] == 0)
        bench.pass(660)
        #expect(bench.rotation.snapshot(at: bench.now).fleet[web]?[.silent] == 1)
        #expect(try shown() == ["\(lost) silent"])
        // Who was admitted before everybody is waited for no longer than that; it is so until it gives a sign of life.
        bench.ask(.rollout(web, .finish), 1)
        bench.pass(3600)
        #expect(try rollout.isFinished)
        #expect(try Set(shown()) == ["\(lost) silent", "\(next) silent"])
        bench.report(lost, try current)
        bench.pass(300)
        #expect(try shown() == ["\(next) silent"])
    }

    /// The machines that are not current.
    private func shown() throws -> [String] {
        try bench.fleet().machines.map { "\($0.machine) \($0.state.rawValue)" }
    }

    /// What it read before that says nothing of now.
    @Test func aSignerThatWasSuspendedLooksFirst() throws {
        try renew()
        bench.pass(60)
        bench.report(try ranked[0], try current, delivered: false, failure: "action_failed")
        bench.boot(after: 1_200_000)
        bench.pass(60)
        #expect(try rollout.state == .held)
        #expect(try admitted.count == 1)
    }

    /// The canary had no way to report meanwhile.
    @Test func onceTheReportsCanBeReadAgainTheCanariesGetTheirFullTime() throws {
        try renew()
        bench.pass(60)
        bench.failures[.fleet] = Failure(.storeUnreachable, at: .store)
        bench.pass(3600)
        bench.failures[.fleet] = nil
        _ = try bench.fleet()
        bench.pass(560)
        #expect(try admitted.count == 1)
        bench.report(try ranked[0], try current)
        bench.pass(590)
        #expect(try admitted.count == 1, "the pause was cut short")
        bench.pass(60)
        #expect(try admitted.count == 3)
    }

    /// All their reports are older than a day by then.
    @Test func whileNoMachineCouldReportNoneWasSilent() throws {
        bench.go()
        for machine in Self.machines { bench.report(machine, try current) }
        bench.pass(700)
        bench.failures[.fleet] = Failure(.storeUnreachable, at: .store)
        bench.pass(30 * 3600)
        bench.failures[.fleet] = nil
        _ = try bench.fleet()
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 99)
        let ranked = try ranked
        for machine in [ranked[20], ranked[30]] { bench.report(machine, try current, delivered: false) }
        bench.pass(120)
        #expect(try admitted == [ranked[0]])
    }

    /// Nobody has vouched for its clock yet, by which all reports are two days old.
    @Test func aSignerThatStartsWithAClockThatIsAheadReleasesNoMachine() throws {
        try renew()
        let ranked = try ranked
        bench.isSynced = false
        bench.step(2 * Values.day)
        try bench.restart(Self.configuration())
        let last = try #require(ranked.last)
        bench.report(last, try current, delivered: false)
        bench.pass(60)
        #expect(try admitted == [ranked[0]])
        bench.isSynced = true
        bench.step(-2 * Values.day)
        bench.pass(60)
        #expect(try admitted == [ranked[0]])
    }

    /// No machine has seen one, so none waits for its end.
    @Test func aRolloutThatCouldNotBePutIsForgottenWithTheSetting() throws {
        let bench = try Bench(try Self.configuration(nil)).started()
        bench.failures[.rollout(web)] = Failure(.storeForbidden, at: .store)
        bench.reload(try Self.configuration(), 1)
        bench.pass(60)
        #expect(try bench.view("web").reason?.failure.code == .storeForbidden)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web] != nil)
        bench.reload(try Self.configuration(nil), 2)
        bench.pass(60)
        #expect(try bench.view("web").health == .ok)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts == [:])
    }

    /// The second canary is only found later.
    @Test func thePauseBeginsAgainWithAFurtherCanary() throws {
        try bench.restart(Self.configuration(RolloutConfiguration(canaries: 2, atOnce: 100, pause: 600)))
        bench.go()
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 99)
        let ranked = try ranked
        bench.report(ranked[0], try current, delivered: false)
        bench.pass(600)
        #expect(try admitted == [ranked[0]])
        bench.report(ranked[0], try current)
        bench.pass(1000)
        for machine in ranked[1...] { bench.report(machine, try current, delivered: false) }
        bench.pass(300)
        #expect(try admitted == Array(ranked[...1]), "the second canary, and not all")
        bench.report(ranked[1], try current)
        bench.pass(540)
        #expect(try admitted.count == 2, "the pause was cut short")
        bench.pass(120)
        #expect(try admitted.count == 40)
    }

    @Test func aSignerThatCannotReadTheReportsSaysSoAndAdmitsNoMachine() throws {
        try renew()
        bench.report(try ranked[0], try current)
        bench.failures[.fleet] = Failure(.storeForbidden, at: .store)
        bench.pass(3600)
        #expect(try bench.view("web").reason?.failure.code == .storeForbidden)
        #expect(try admitted.count == 1)
        bench.failures = [:]
        bench.pass(1800)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func itIsHeldResumedAndFinished() throws {
        try renew()
        bench.ask(.rollout(web, .hold), 1)
        let view = try bench.answer(1) { if case .rollout(let view) = $0 { view } else { nil } }
        #expect(view.state == .held)
        #expect(try rollout.state == .held)
        bench.report(try ranked[0], try current)
        bench.pass(3600)
        #expect(try admitted.count == 1)
        bench.ask(.rollout(web, .resume), 2)
        #expect(try rollout.state == .going)
        bench.pass(700)
        #expect(try admitted.count == 3)
        bench.ask(.rollout(web, .finish), 3)
        #expect(try rollout.isFinished)
        #expect(try bench.answer(3) { if case .rollout(let view) = $0 { view.share } else { nil } } == 1)
        bench.ask(.rollout(web, .hold), 4)
        #expect(bench.answer(4) == .noRollout(nil))
    }

    @Test func resumedItGoesOnInSpiteOfThoseThatFail() throws {
        try renew()
        let ranked = try ranked
        bench.report(ranked[0], try current, delivered: false, failure: "action_failed")
        bench.pass(60)
        #expect(try rollout.state == .held)
        bench.ask(.rollout(web, .resume), 1)
        bench.pass(700)
        #expect(try rollout.state == .going)
        #expect(try admitted.count == 2)
        bench.report(ranked[1], try current, delivered: false, failure: "action_failed")
        bench.pass(60)
        #expect(try rollout.state == .held, "another one fails")
    }

    @Test(arguments: [
        ("the store refuses it", Failure.Code.storeForbidden), ("it may not be changed from here", .storeForbidden),
        ("the clock is distrusted", .clockBeforeBuild), ("the key cannot be read", .keyMissing),
    ])
    func anOrderThatCannotBeCarriedOutIsAnsweredWithTheReason(_ reason: String, _ code: Failure.Code) throws {
        try renew()
        switch reason {
        case "the store refuses it": bench.failures[.rollout(web)] = Failure(.storeForbidden, at: .store)
        case "the clock is distrusted":
            bench.isSynced = false
            bench.step(-400 * Values.day)
        case "the key cannot be read":
            let key = Resource.key(try #require(bench.rotation.index[web]).entry.key)
            bench.failures[key] = try Values.failure(.keyMissing, "/key.p8")
            bench.tell(.changeNoticed(key))
            bench.pass(60)
        default:
            bench.rollouts[place] = .forbidden
            bench.pass(61)
        }
        bench.ask(.rollout(web, .hold), 1)
        let failure = try bench.answer(1) { if case .noRollout(let failure) = $0 { failure } else { nil } }
        #expect(failure.code == code)
        guard !bench.failures.isEmpty else { return }
        bench.failures = [:]
        bench.pass(3600)
        #expect(try rollout.state == .going, "it was held when nobody remembered that")
    }

    /// Then nobody is left to hold back, and it would stay held until somebody resumes it.
    @Test func aRolloutThatHasFinishedMeanwhileIsNotHeld() throws {
        try renew()
        bench.held = [.rollout(web)]
        bench.ask(.rollout(web, .hold), 1)
        bench.rollouts[place] = .rollout(Rollout(of: SecretName(try current), admitted: .max), revision: 5_000)
        bench.pass(61)
        bench.release(.rollout(web))
        bench.pass(700)
        #expect(try rollout.isFinished)
        #expect(bench.answer(1) == .rolloutOvertaken)
        #expect(try bench.view("web").health == .ok)
    }

    /// It is not said to be done, for it never was.
    @Test func anOrderThatSomethingOvertakesIsAnsweredSo() throws {
        try renew()
        bench.held = [.rollout(web)]
        bench.ask(.rollout(web, .hold), 1)
        #expect(bench.answer(1) == nil)
        // While the put is under way, another signer's secret and its rollout are there.
        let other = try Values.issued(
            77, from: bench.now.wall.secondsSinceEpoch - Values.start + 5,
            to: bench.now.wall.secondsSinceEpoch - Values.start + 90 * Values.day, signer: Values.print("1"))
        bench.store[place] = .secret(other, revision: 5_000)
        bench.rollouts[place] = .rollout(Rollout(of: other.name, admitted: 1), revision: 5_000)
        bench.pass(61)
        bench.release(.rollout(web))
        #expect(try current == other.fingerprint)
        #expect(bench.answer(1) == .rolloutOvertaken)
        #expect(try rollout.state == .going)

        bench.held = [.rollout(web)]
        bench.ask(.rollout(web, .hold), 2)
        #expect(bench.answer(2) == nil)
        var configuration = try Self.configuration()
        configuration.store = nil
        bench.reload(configuration, 3)
        #expect(bench.answer(2) == .rolloutOvertaken)
    }

    @Test func aRolloutThatIsRemovedOrForgedIsPutAgainAsItWas() throws {
        try renew()
        let ranked = try ranked
        bench.report(ranked[0], try current)
        bench.pass(700)
        let before = try rollout
        bench.rollouts[place] = nil
        bench.pass(61)
        #expect(try rollout == before)
        bench.rollouts[place] = .foreign(revision: 7)
        bench.pass(130)
        #expect(try rollout == before)
        bench.forget()
        for round in 0..<20 {
            bench.rollouts[place] = .foreign(revision: 8 + Int64(round))
            bench.tell(.changeNoticed(.store))
            bench.pass(3)
        }
        #expect(bench.log.count { $0 == "admit web" } <= 2, "a fight over it")
    }

    @Test func anotherSignersStepIsKept() throws {
        try renew()
        let more = Rollout(of: SecretName(try current), admitted: .max / 2)
        bench.rollouts[place] = .rollout(more, revision: 5000)
        bench.pass(61)
        #expect(try rollout.admitted >= .max / 2)
    }

    /// Machines that have seen a rollout wait for the next one, whatever the store has forgotten.
    @Test(arguments: [(false, false), (true, false), (true, true)])
    func aClientWithoutTheSettingAdmitsEverybodyWhereThereWasARollout(isStoreEmpty: Bool, isRestarted: Bool) throws {
        try renew()
        if isStoreEmpty { (bench.store, bench.rollouts) = ([:], [:]) }
        if isRestarted { try bench.restart(Self.configuration(nil)) } else { bench.reload(try Self.configuration(nil)) }
        bench.pass(130)
        #expect(try rollout.isFinished)
        #expect(try rollout.secret.fingerprint == current)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 98)
        #expect(try rollout.isFinished)
        #expect(try rollout.secret.fingerprint == current)
    }

    @Test func noMachineIsAdmittedWhileNoneReports() throws {
        bench.go()
        bench.pass(7200)
        #expect(try rollout.admitted == 0)
        // Of a new fleet, the first reports may come at any moment.
        bench.forget()
        bench.pass(300)
        #expect((9...14).contains(bench.readings))
        // After a day, every machine has reported that can.
        bench.pass(93_600)
        #expect(try rollout.admitted == 0)
        bench.forget()
        bench.pass(300)
        #expect(bench.readings <= 2)
    }

    @Test func theReportsAreReadMoreOftenMeanwhile() throws {
        try renew()
        bench.pass(60)
        bench.forget()
        bench.pass(300)
        #expect((9...14).contains(bench.readings))
        bench.ask(.rollout(web, .finish), 1)
        bench.pass(60)
        bench.forget()
        bench.pass(1500)
        #expect(bench.readings <= 7)
    }

    @Test func aRestartGoesOnWhereItWas() throws {
        try renew()
        bench.report(try ranked[0], try current)
        bench.pass(700)
        let before = try rollout
        try bench.restart(Self.configuration())
        bench.pass(300)
        #expect(try rollout == before)
        for machine in try admitted { bench.report(machine, try current) }
        bench.pass(700)
        #expect(try rollout.admitted > before.admitted)
    }

    /// The store was lost, and the signer was restarted.
    @Test func aHeldRolloutStaysHeldWhenNoOtherSignerRemembersIt() throws {
        try renew()
        bench.ask(.rollout(web, .hold), 1)
        bench.pass(60)
        #expect(try rollout.state == .held)
        #expect(bench.records[web]?.isRolloutHeld == true)
        (bench.store, bench.rollouts, bench.reports) = ([:], [:], [:])
        try bench.restart(Self.configuration())
        bench.pass(60)
        #expect(try rollout.state == .held)
        bench.ask(.rollout(web, .resume), 2)
        bench.pass(60)
        #expect(try rollout.state == .going)
        try bench.restart(Self.configuration())
        bench.pass(60)
        #expect(try rollout.state == .going)
    }

    /// The machine that puts the secret there may be rolling it out.
    @Test func aMachineThatPutsNoSuchSecretThereTakesNoOrder() throws {
        var configuration = try Self.configuration()
        configuration.clients[web]?.isShared = false
        bench.go()
        bench.reload(configuration)
        bench.ask(.rollout(web, .hold), 1)
        #expect(bench.answer(1) == .noFleet(nil))
    }

    /// The store was lost, and the signer was restarted; then a machine appears that was not there before.
    @Test func aNewMachineStandsInForNoneWhoseReportIsGone() throws {
        try renew()
        bench.pass(60)
        (bench.store, bench.rollouts, bench.reports) = ([:], [:], [:])
        try bench.restart(Self.configuration())
        bench.pass(60)
        for machine in Self.machines.dropFirst() + ["new"] { bench.report(machine, try current, delivered: false) }
        bench.pass(300)
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 1)
        #expect(try rollout.admitted == 0, "the canary was admitted before, and may be at it")
        bench.report(Self.machines[0], try current, delivered: false)
        bench.pass(60)
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 0)
        #expect(try rollout.admitted > 0)
    }

    /// The other store was configured while no daemon ran: the machines of the former one are not missing there.
    @Test func theMachinesOfAnotherStoreAreNotWaitedFor() throws {
        try renew()
        bench.pass(700)
        #expect(bench.records[web]?.fleet.count ?? 0 >= Self.machines.count)
        (bench.store, bench.rollouts, bench.reports) = ([:], [:], [:])
        try bench.restart(Self.configuration())
        #expect(bench.rotation.fleet.known.missing(Values.identity) >= Self.machines.count)
        bench.pass(300)
        #expect(bench.rotation.snapshot(at: bench.now).rollouts[web]?.missing ?? 0 >= Self.machines.count)
        try bench.restart(Self.configuration(store: "another etcd"))
        #expect(bench.rotation.fleet.known.missing(Values.identity) == 0)
    }
}
