import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What is put into places behind an API, and what becomes of it there.
@Suite struct TargetPlanTests {
    private let web = "web"
    private let target: TargetName
    private let other: SecretInfo
    private var resource: Resource { .target(target) }
    private let action = Values.exec("/bin/deploy")

    init() throws {
        target = try #require(TargetName("production"))
        other = try Values.issued(7, signer: nil)
    }

    private func configuration(
        place: String = "here", outputs: [Output]? = nil, actions: [Action] = []
    ) throws -> Configuration {
        var client = try Values.client(web, outputs: outputs, actions: actions)
        client.targets = [PushOutput(target: target, place: place)]
        return try Values.configuration([web: client, "api": Values.client("api")])
    }

    /// A daemon that has published everything.
    private func settled(actions: [Action] = [], isBlind: Bool = false) throws -> Bench {
        let bench = try Bench(try configuration(actions: actions))
        if isBlind { bench.blind = [target] }
        bench.go()
        #expect(bench.places[target] == (try bench.current(web)))
        bench.forget()
        return bench
    }

    private func output(_ bench: Bench) throws -> OutputView {
        try #require(try bench.view(web).outputs.first { $0.target == target })
    }

    private func failure(_ code: Failure.Code = .pushServerFailed, retryAfter: Seconds? = nil) -> Failure {
        Failure(code, at: .target(target), retryAfter: retryAfter)
    }

    /// What was pushed and read back since the bench forgot.
    private func requests(_ bench: Bench) -> [String] {
        bench.log.filter { $0.hasPrefix("push ") || $0.hasPrefix("ask ") }
    }

    /// For those who judge without the daemon.
    @Test func theRecordKeepsWhyAnAPIFails() throws {
        let bench = try settled()
        let name = try Values.name(web)
        bench.failures = [resource: failure(.pushCredentialsRefused)]
        bench.ask(.renew(.init(clients: [name])))
        let kept = [PushOutput(target: target, place: "here"): Record.PlaceFailure(.pushCredentialsRefused, nil)]
        #expect(bench.records[name]?.failing == kept)
        // A daemon that starts has not asked the API yet.
        bench.failures = [:]
        bench.held = [resource]
        try bench.restart(try configuration())
        #expect(bench.records[name]?.failing == kept)
        bench.release(resource)
        #expect(bench.records[name]?.failing == [:])
    }

    // MARK: Pushing

    /// At a start, and when a new secret is pushed. A request still waits: an API may take longer.
    @Test(arguments: [true, false]) func aServiceThatDoesNotAnswerIsReportedAfterThirtySeconds(isStart: Bool) throws {
        let bench = isStart ? try Bench(try configuration()) : try settled()
        bench.held = [resource]
        if isStart { bench.go() } else { try bench.renew(web) }
        bench.pass(29)
        #expect(try output(bench).state == .pending)
        bench.pass(1)
        #expect(try output(bench).state == .notResponding)
        let failure = try #require(try bench.view(web).reason?.failure)
        #expect(failure.code == .notResponding && failure.place == .target(target), "\(failure)")
        #expect(failure.detail?.contains("the service that pushes to it") == true)
        #expect(try bench.view("api").health == .ok)
        #expect(bench.answer() == nil)
        bench.release(resource)
        bench.pass(1)
        #expect(try output(bench).state == .ok && bench.view(web).health == .ok)
    }

    @Test(arguments: [true, false]) func aSecretIsPushedAndRecorded(isShown: Bool) throws {
        let bench = try settled(isBlind: !isShown)
        let secret = try #require(try bench.current(web))
        #expect(bench.records[try Values.name(web)]?.pushed == [PushOutput(target: target, place: "here"): secret])
        let view = try bench.view(web)
        #expect(view.health == .ok)
        #expect(view.delivered)
        let output = try output(bench)
        #expect(output.state == .ok)
        #expect(output.path == nil)
        #expect(output.verified == (isShown ? true : nil))
        #expect(output.writtenAt != nil)
    }

    /// The API showed the secret before, and has not shown the new one.
    @Test(arguments: [true, false]) func aSecretThatCouldNotBePushedIsNotVerified(isShown: Bool) throws {
        let bench = try settled()
        #expect(try output(bench).verified == true)
        let former = try #require(try bench.current(web))
        bench.failures[resource] = Failure(
            .pushRateLimited, at: .target(target), placeContent: isShown ? .secret(expiresAt: former.expiresAt) : nil)
        try bench.renew(web)
        #expect(try output(bench).state == .failed)
        #expect(try output(bench).verified == (isShown ? false : nil))
    }

    // MARK: What a target does not touch

    @Test(arguments: [true, false]) func filesAndReadyWaitForNoTarget(isHung: Bool) throws {
        let bench = try Bench(try configuration())
        if isHung { bench.held = [resource] } else { bench.failures[resource] = failure() }
        bench.go()
        #expect(bench.entries.contains(.ready))
        #expect(try bench.held(in: "web.jwt") == (try bench.current(web)))
        #expect(try bench.view("api").health == .ok)
        #expect(try bench.view(web).health == .degraded)
        #expect(try output(bench).state == (isHung ? .pending : .failed))
    }

    /// They run once more when it has succeeded.
    @Test func actionsWaitForAPushThatRunsAndNotForOneThatFails() throws {
        let bench = try settled(actions: [action])
        bench.held = [resource]
        let run = "run exec /bin/deploy for web"
        try bench.renew(web)
        #expect(!bench.log.contains(run))
        bench.fail(resource, failure())
        #expect(bench.log.filter { $0 == run }.count == 1)
        #expect(bench.answer() == .renewed([try bench.failed(web, failure())]))
        bench.pass(60)
        #expect(bench.places[target] == (try bench.current(web)))
        #expect(bench.log.filter { $0 == run }.count == 2)
        #expect(try bench.view(web).health == .ok)
    }

    /// An API that keeps nothing is asked to take a secret once more, and meanwhile there is another one.
    @Test func aPushThatEndsAfterItsSecretWasReplacedRunsNoAction() throws {
        let bench = try settled(actions: [action])
        let names: Set = [try Values.name(web)]
        bench.stale = [target]
        bench.ask(.renew(.init(clients: names)), 1)
        bench.pass(302)
        #expect(try bench.view(web).reason?.failure.code == .pushNotKept)
        bench.held = [resource]
        bench.pass(10)
        bench.forget()
        bench.ask(.renew(.init(clients: names)), 2)
        #expect(bench.runs.count == 1)
        bench.release(resource)
        #expect(requests(bench) == ["push production"])
        #expect(bench.runs.count == 2, "once more, because the secret has come there")
        #expect(try output(bench).repairs == 1, "the earlier secret was put back, and the newer one is no repair")
    }

    @Test func actionsDoNotWaitForAPushThatDoesNotRespond() throws {
        let bench = try settled(actions: [action])
        bench.held = [resource]
        try bench.renew(web)
        #expect(!bench.log.contains { $0.hasPrefix("run ") })
        bench.pass(31)
        #expect(bench.log.contains { $0.hasPrefix("run ") })
        #expect(bench.answer() == nil)
    }

    // MARK: Deploying again

    private let second = "second"

    /// Two clients whose targets belong to one project.
    private func deployed() throws -> Configuration {
        var configuration = try configuration()
        for (client, target) in [(web, target), ("api", try #require(TargetName(second)))] {
            let name = try Values.name(client)
            configuration.clients[name]?.targets = [PushOutput(target: target, place: "here")]
            configuration.clients[name]?.onChange = [.redeploy(project: "shop", targets: [target])]
        }
        return configuration
    }

    @Test func aProjectIsDeployedOnceForAllThatIsPushed() throws {
        let bench = try Bench(try deployed())
        let last = Resource.target(try #require(TargetName(second)))
        bench.held = [last]
        bench.go()
        bench.pass(60)
        #expect(bench.runs == [])
        bench.release(last)
        #expect(bench.runs == ["redeploy shop for api, web"])
        let targets = bench.works.compactMap { work -> [String]? in
            if case .run(.redeploy(_, let targets), _) = work { targets.map(\.description) } else { nil }
        }
        #expect(targets == [[second, "production"]])
        bench.forget()
        try bench.renew(web)
        #expect(bench.runs == ["redeploy shop for web"])
    }

    /// Actions do not wait for it, and the API still holds the former secret.
    @Test func whileAPushFailsTheAPIsSecretIsTheOneThatWasDelivered() throws {
        let bench = try settled(actions: [action])
        let former = try #require(try bench.current(web))
        #expect(try bench.view(web).deliveredExpiresAt == former.expiresAt)
        bench.pass(Values.day)
        bench.failures[resource] = failure()
        bench.forget()
        try bench.renew(web)
        bench.pass(60)
        let current = try #require(try bench.current(web))
        #expect(current.expiresAt > former.expiresAt)
        #expect(bench.runs == ["exec /bin/deploy for web"])
        #expect(try bench.view(web).deliveredExpiresAt == former.expiresAt)
        try bench.restart(try configuration(actions: [action]))
        bench.pass(60)
        #expect(try bench.view(web).deliveredExpiresAt == former.expiresAt)
        bench.failures = [:]
        bench.pass(900)
        #expect(try bench.view(web).deliveredExpiresAt == current.expiresAt)
        #expect(try bench.view(web).delivered)
    }

    /// What was not pushed is not deployed, and does not hold back what was.
    @Test func aPushThatFailsIsDeployedOnceItHasSucceeded() throws {
        let bench = try Bench(try deployed())
        bench.failures[resource] = failure()
        bench.go()
        #expect(bench.runs == ["redeploy shop for api"])
        #expect(try !bench.view(web).delivered)
        bench.failures = [:]
        bench.pass(900)
        #expect(bench.runs == ["redeploy shop for api", "redeploy shop for web"])
        #expect(try bench.view(web).delivered)
    }

    @Test func deliveredMeansThatItRuns() throws {
        let bench = try Bench(try deployed())
        bench.isDeploying = true
        bench.go()
        bench.pass(600)
        #expect((35...45).contains(bench.runs.count), "\(bench.runs.count) looks")
        let view = try bench.view(web)
        #expect(!view.delivered)
        #expect(view.deliveredExpiresAt == nil)
        #expect(view.counts.deliveries == Tally())
        #expect(bench.entries.allSatisfy { if case .ran = $0 { false } else { true } })
        bench.isDeploying = false
        bench.pass(15)
        #expect(try bench.view(web).delivered)
        #expect(try bench.view(web).health == .ok)
        bench.forget()
        bench.pass(86_400)
        #expect(bench.runs == [])
    }

    /// Minutes of it are no news for operators: nothing fails, and what runs has a secret that is valid.
    @Test func aDeploymentOfARenewalThatIsUnderWayIsNoFault() throws {
        let bench = try Bench(try deployed())
        bench.isDeploying = true
        bench.go()
        bench.pass(60)
        // Nothing was delivered yet.
        #expect(try bench.view(web).health == .degraded)
        bench.isDeploying = false
        bench.pass(15)
        bench.isDeploying = true
        try bench.renew(web)
        bench.pass(300)
        let view = try bench.view(web)
        #expect(view.health == .ok)
        #expect(!view.delivered)
        #expect(view.actions.map(\.state) == [.pending])
        // Running the action sooner would deploy once more.
        #expect(view.actions.map(\.waitsFor) == [.deployment])
        try bench.restart(try deployed())
        bench.pass(60)
        #expect(try bench.view(web).health == .ok)
        bench.pass(3600)
        #expect(try bench.view(web).health == .degraded, "it has taken an hour")
        #expect(try bench.view(web).reason?.failure.code == .notDelivered)
        #expect(try bench.view(web).actions.map(\.waitsFor) == [nil])
        bench.failures[.action(ActionID("redeploy shop"))] = failure(.pushDeploymentFailed)
        bench.pass(15)
        #expect(try bench.view(web).reason?.failure.code == .pushDeploymentFailed)
    }

    /// The push of the next secret fails. A single run would wait for the earlier one for ever.
    @Test func aDeploymentOfAnEarlierSecretIsNotAwaited() throws {
        let bench = try Bench(try deployed()).started()
        bench.isDeploying = true
        try bench.renew(web)
        #expect(bench.rotation.isDeploying)
        bench.failures[resource] = failure()
        try bench.renew(web, number: 2)
        bench.forget()
        bench.pass(60)
        #expect(bench.runs == [])
        #expect(!bench.rotation.isDeploying)
    }

    /// A person has put an older deployment into production, and has a reason.
    @Test func aRollbackIsAWarningUntilProductionHasTheSecret() throws {
        let bench = try Bench(try deployed()).started()
        #expect(try bench.view(web).delivered)
        bench.forget()
        bench.use[target] = .outdated("it began at 2026-11-01T00:00:00Z")
        bench.pass(3600)
        let view = try bench.view(web)
        #expect(view.health == .degraded && !view.delivered && view.deliveredExpiresAt == nil)
        #expect(view.reason?.failure.code == .pushDeploymentOutdated)
        #expect(try output(bench).error?.contains("it began at 2026-11-01T00:00:00Z") == true)
        #expect(try bench.view("api").delivered)
        #expect(bench.runs == [] && !requests(bench).contains { $0.hasPrefix("push ") })
        bench.use[target] = .used
        bench.pass(3600)
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).delivered)
    }

    @Test func withoutDeployingItIsNeverDelivered() throws {
        var configuration = try configuration()
        configuration.clients[try Values.name(web)]?.undeployed = [target]
        let bench = try Bench(configuration).started()
        let view = try bench.view(web)
        #expect(view.health == .ok)
        #expect(!view.delivered)
        #expect(view.deliveredExpiresAt == nil)
        #expect(try output(bench).deployed == false)
        let since = view.lastSuccessAt
        bench.pass(7200)
        #expect(try bench.view(web).lastSuccessAt == since)
        #expect(try bench.view("api").delivered)
    }

    // MARK: Targets with members of one document

    /// Two clients whose targets are members of one document.
    private func sharing(actions: [Action] = []) throws -> Configuration {
        var configuration = try configuration(actions: actions)
        for (client, target) in [(web, target), ("api", try #require(TargetName(second)))] {
            let name = try Values.name(client)
            configuration.clients[name]?.targets = [PushOutput(target: target, place: "here")]
            configuration.clients[name]?.documents = [target: "document"]
        }
        return configuration
    }

    private func sent(_ bench: Bench) -> [[String: SecretInfo]] {
        bench.works.compactMap { work in
            guard case .push(_, let secret, let output, let others) = work else { return nil }
            var all = [output.target.description: secret]
            for (target, secret) in others { all[target.description] = secret }
            return all
        }
    }

    /// The second then finds its secret there.
    @Test func theFirstWriteCarriesTheSecretsOfAll() throws {
        let bench = try Bench(try sharing())
        bench.held = [resource]
        bench.go()
        #expect(requests(bench) == ["push production"])
        bench.pass(20)
        #expect(requests(bench) == ["push production"])
        bench.release(resource)
        #expect(requests(bench) == ["push production", "push second"])
        let all = [
            "production": try #require(try bench.current(web)), "second": try #require(try bench.current("api")),
        ]
        #expect(sent(bench) == [all, all])
        for client in [web, "api"] { #expect(try bench.view(client).health == .ok) }
    }

    /// Else the second would have to wait until the document may be written again.
    @Test func aWriteWaitsForASecretThatIsBeingMinted() throws {
        let bench = try Bench(try sharing()).settled()
        let minting = Resource.client(try Values.name("api"))
        bench.held = [minting]
        bench.ask(.renew(.init(clients: [try Values.name(web), try Values.name("api")])))
        #expect(requests(bench) == [])
        bench.release(minting)
        #expect(requests(bench) == ["push production", "push second"])
        #expect(sent(bench)[0]["second"] == (try bench.current("api")))
    }

    /// The record of what an action delivered may be the last thing that the other target waits for.
    @Test func aWriteGoesOnOnceADeliveryIsRecorded() throws {
        let name = try Values.name(web)
        let bench = try Bench(try sharing(actions: [action])).settled()
        bench.held = [.action(action.id)]
        bench.ask(.renew(.init(clients: [name])))
        bench.held.insert(.record(name))
        bench.release(.action(action.id))
        try bench.renew("api", number: 2)
        #expect(requests(bench) == ["push production"])
        bench.release(.record(name))
        #expect(requests(bench) == ["push production", "push second"])
    }

    @Test func aWriteDoesNotWaitForOneThatDoesNotRespond() throws {
        let bench = try Bench(try sharing()).settled()
        bench.held = [.target(try #require(TargetName(second)))]
        try bench.renew("api")
        try bench.renew(web, number: 2)
        #expect(requests(bench) == ["push second"])
        bench.pass(31)
        #expect(requests(bench) == ["push second", "push production"])
    }

    /// The other target is read meanwhile, or pushed to. A failure from before the request is no result of it.
    @Test(arguments: [true, false]) func aRequestWaitsForAPushThatWaitsForAnother(doBothFail: Bool) throws {
        let bench = try Bench(try sharing()).settled()
        let last = try #require(TargetName(second))
        let failed = Failure(.pushServerFailed, at: .target(last))
        bench.failures[.target(last)] = failed
        if doBothFail { bench.failures[resource] = failure() }
        bench.ask(.renew(.init()))
        bench.forget()
        bench.ask(.renew(.init(deliverOnly: true)), 2)
        let first = try doBothFail ? bench.failed(web, failure()) : bench.untouched(web)
        #expect(try bench.answer(2) == .renewed([bench.failed("api", failed), first]))
        #expect(requests(bench) == [doBothFail ? "push production" : "ask production", "push second"])
    }

    // MARK: Failing

    /// Nothing is wrong with the API.
    @Test func aPushThatTheDaemonsEndCancelsIsNoFailure() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew(web)
        bench.tell(.stop)
        let cancelled = Failure(.pushServiceSilent, at: .target(target), cause: ErrorNumber.cancelled)
        try bench.end(resource, .failure(cancelled))
        #expect(bench.entries.allSatisfy { if case .failing = $0 { false } else { true } })
        #expect(bench.lastStep.ended)
    }

    /// An application that reads there has no secret at all.
    @Test func anEmptyPlaceIsCriticalAndPushedToWithinAnHour() throws {
        let bench = try Bench(try configuration())
        bench.failures[resource] = Failure(
            .pushRateLimited, at: .target(target), retryAfter: 86_400, placeContent: .nothing)
        bench.go()
        #expect(try bench.view(web).health == .critical)
        bench.forget()
        bench.pass(3500)
        #expect(requests(bench) == [])
        bench.pass(200)
        #expect(requests(bench).contains("push production"))
        // What is there now may be another program's.
        bench.failures[resource] = Failure(
            .pushConflict, at: .target(target), placeContent: .something)
        bench.pass(3700)
        #expect(try bench.view(web).health == .degraded)
        bench.failures = [:]
        bench.pass(3700)
        #expect(try bench.view(web).health == .ok)
    }

    /// It is made once an hour; what is to be pushed meanwhile is new.
    @Test func anUnwelcomeReadDelaysAPushForAnHourAtMost() throws {
        let bench = try settled()
        bench.failures[resource] = failure(.pushRateLimited, retryAfter: 86_400)
        bench.pass(3600)
        #expect(requests(bench) == ["ask production"])
        bench.failures = [:]
        bench.forget()
        let key = try #require(KeyName("apple"))
        bench.prints[key] = try Values.print("2")
        bench.tell(.changeNoticed(.key(key)))
        bench.pass(3600)
        #expect(requests(bench).first == "push production", "\(requests(bench))")
        #expect(bench.places[target] == (try bench.current(web)))
    }

    /// What lies there is critical for the last ten of its ninety days.
    @Test func whileASecretRunsOutAnAPIWaitsForARequestForAnHourAtMost() throws {
        let bench = try settled()
        bench.failures[resource] = failure(retryAfter: 86_400)
        bench.pass(70 * Values.day)
        bench.forget()
        bench.pass(5 * Values.day)
        #expect((4...6).contains(requests(bench).count), "\(requests(bench).count) in five days")
        bench.pass(4 * Values.day + Values.day / 2)
        // The wish that was heard before that is too long then.
        bench.ask(.renew(.init(clients: [try Values.name(web)], deliverOnly: true)))
        bench.pass(Values.day / 2 - 600)
        bench.forget()
        bench.pass(4200)
        #expect(requests(bench).count == 1)
        bench.forget()
        bench.pass(Values.day)
        #expect((23...25).contains(requests(bench).count), "\(requests(bench).count) in a day")
    }

    /// So is one that is to deploy: a secret that runs out is no reason to ask it each minute.
    @Test func whileASecretRunsOutADeploymentWaitsForAnHourAtMost() throws {
        let bench = try Bench(try deployed()).started()
        bench.failures[.action(ActionID("redeploy shop"))] = failure(.pushRateLimited, retryAfter: 1200)
        bench.sleep(80 * Values.day + 3600)
        #expect(try bench.view(web).health == .critical)
        bench.forget()
        bench.pass(7200)
        #expect((5...7).contains(bench.runs.count), "\(bench.runs.count) in two hours")
    }

    /// Whoever reloads has changed something else.
    @Test func aReloadDoesNotEndThePauseThatAnAPIWants() throws {
        let bench = try Bench(try configuration(actions: [action]))
        bench.failures[resource] = failure(.pushRateLimited, retryAfter: 3600)
        bench.go()
        bench.failures = [:]
        bench.pass(60)
        bench.forget()
        for number in 1...5 {
            bench.reload(try configuration(actions: [action]), UInt64(number))
            let named = "client \"\(web)\": \(failure(.pushRateLimited).message)"
            #expect(bench.answer(UInt64(number)) == .reloaded(unserved: [named]))
            bench.pass(10)
        }
        #expect(requests(bench) == [])
        #expect(try bench.view(web).reason?.nextAttempt == bench.now.wall + 3490)
        // What waits for no push that fails does not wait for this one either.
        try bench.renew("api", number: 9)
        #expect(try bench.view("api").health == .ok)
        #expect(try output(bench).state == .failed)
        // In another place it is another API's.
        bench.reload(try configuration(place: "there", actions: [action]), 6)
        #expect(requests(bench) == ["push production"])
        #expect(try bench.view(web).health == .ok)
    }

    /// Only the service that pushes knows that its token is missing.
    @Test(arguments: [true, false]) func aReloadWaitsForAnAPIAndNamesItsFailure(isNew: Bool) throws {
        let bench = isNew ? try Bench(["api": Values.client("api")]).settled() : try settled()
        bench.held = [resource]
        bench.reload(try configuration())
        #expect(bench.answer() == nil)
        #expect(try bench.view("api").health == .ok)
        let failure = failure(.pushServiceSilent)
        bench.fail(resource, failure)
        #expect(bench.answer() == .reloaded(unserved: ["client \"\(web)\": \(failure.message)"]))
        // The failure was one of before, until the work is tried again.
        bench.held = [resource]
        bench.reload(try configuration(), 2)
        #expect(bench.answer(2) == nil)
        bench.release(resource)
        #expect(bench.answer(2) == .reloaded(unserved: []))
        #expect(try bench.view(web).health == .ok)
    }

    /// A job of before may have failed for a reason that the reload ends.
    @Test func aReloadIsNotAnsweredByAPushFromBeforeIt() throws {
        let bench = try settled()
        bench.held = [resource]
        try bench.renew(web)
        bench.reload(try configuration(), 2)
        #expect(bench.answer(2) == nil)
        try bench.end(resource, .failure(failure(.pushTimedOut)))
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    @Test func aReloadWaitsForNoAPILongerThanHalfAMinute() throws {
        let bench = try settled()
        bench.held = [resource]
        bench.reload(try configuration())
        bench.pass(29)
        #expect(bench.answer() == nil)
        bench.pass(1)
        let unserved = try bench.answer { if case .reloaded(let unserved, orphaned: _) = $0 { unserved } else { nil } }
        #expect(unserved.count == 1, "\(unserved)")
        #expect(unserved.first?.hasPrefix("client \"\(web)\": target \"\(target)\"") == true, "\(unserved)")
        #expect(unserved.first?.contains("the service that pushes to it has not answered for 30 s") == true)
    }

    @Test func aReloadHasAPushTriedThatTheAPIHasNotPutOff() throws {
        let bench = try Bench(try configuration())
        bench.failures[resource] = failure()
        bench.go()
        bench.pass(3600)
        bench.failures = [:]
        bench.forget()
        bench.reload(try configuration())
        #expect(requests(bench) == ["push production"])
        #expect(try bench.view(web).health == .ok)
    }

    /// Whatever is reloaded meanwhile, and however often.
    @Test(arguments: [60, 20]) func aReadThatFailsStaysAFailureUntilOneSucceeds(interval: Int64) throws {
        let bench = try settled()
        bench.held = [resource]
        bench.pass(3600)
        bench.fail(resource, failure(.pushTimedOut))
        let since = try #require(try bench.view(web).reason?.since)
        bench.forget()
        for number in 1...5 {
            bench.held = [resource]
            bench.reload(try configuration(), UInt64(number))
            bench.pass(interval)
            #expect(try bench.view(web).health == .degraded)
            #expect(try output(bench).state == .failed)
            #expect(try bench.view(web).reason?.since == since)
            bench.fail(resource, failure(.pushTimedOut))
        }
        #expect(bench.entries.allSatisfy { if case .recovered = $0 { false } else { true } })
        bench.held = []
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
        #expect(bench.entries.contains(.recovered(resource, failure(.pushTimedOut))))
    }

    /// A read may take longer than there is between two reloads.
    @Test func aReadThatBeganBeforeAReloadMayFail() throws {
        let bench = try settled()
        bench.held = [resource]
        bench.pass(3600)
        bench.reload(try configuration())
        try bench.end(resource, .failure(failure(.pushTimedOut)))
        #expect(bench.entries.contains { if case .failing(resource, _, _, _) = $0 { true } else { false } })
        // It is asked again at once, as after every reload.
        #expect(requests(bench) == ["ask production", "ask production"])
        #expect(try bench.view(web).health == .ok)
        // In another place it says nothing.
        bench.held = [resource]
        bench.pass(3600)
        bench.forget()
        bench.reload(try configuration(place: "there"), 2)
        try bench.end(resource, .failure(failure(.pushTimedOut)))
        #expect(bench.entries.allSatisfy { if case .failing = $0 { false } else { true } })
        #expect(requests(bench) == ["push production"])
        #expect(bench.records[try Values.name(web)]?.pushed.keys.map(\.place) == ["there"])
    }

    @Test func aRequestDoesNotWaitForARetry() throws {
        let bench = try Bench(try configuration())
        bench.failures[resource] = failure(.pushRateLimited, retryAfter: 7200)
        bench.go()
        bench.failures = [:]
        bench.ask(.renew(.init(clients: [try Values.name(web)], deliverOnly: true)))
        #expect(bench.answer() == .renewed([try bench.delivered(web)]))
        #expect(bench.places[target] == (try bench.current(web)))
    }

    /// The API may hold either by then.
    @Test func afterAFailedPushNothingIsTakenForGranted() throws {
        let bench = try settled()
        bench.failures[resource] = failure(.pushTimedOut)
        try bench.renew(web)
        bench.failures = [:]
        try bench.restart(try configuration())
        #expect(requests(bench) == ["push production"])
    }

    // MARK: Reading back

    @Test func anAPIsValueIsReadOnceAnHour() throws {
        let bench = try settled()
        bench.pass(10 * 3600)
        let count = requests(bench).count
        #expect(Set(requests(bench)) == ["ask production"])
        #expect((10...13).contains(count), "read \(count) times")
    }

    @Test func aValueThatGoesOnBeingChangedIsContested() throws {
        let bench = try settled()
        for _ in 1...4 {
            bench.places[target] = other
            bench.pass(3600)
        }
        #expect(try output(bench).state == .contested)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure == Failure(.contested, at: .target(target)))
        bench.pass(25_000)
        #expect(try output(bench).state == .ok)
        #expect(try bench.view(web).health == .ok)
    }

    /// Has the target go on being changed, until it holds something else for now.
    private func leftAlone(_ bench: Bench? = nil) throws -> Bench {
        let bench = try bench ?? settled()
        for _ in 1...5 {
            bench.places[target] = other
            bench.pass(3600)
        }
        bench.places[target] = other
        for _ in 1...360 where bench.rotation.isGood(target) { bench.pass(10) }
        return bench
    }

    /// And a request puts it in order.
    @Test func aReloadNamesATargetThatIsContested() throws {
        let bench = try leftAlone()
        bench.reload(try configuration())
        let failure = Failure(.contested, at: .target(target))
        #expect(bench.answer() == .reloaded(unserved: ["client \"\(web)\": \(failure.message)"]))
        try bench.renew(web, number: 2)
        #expect(try bench.answer(2) == .renewed([bench.renewed(web)]))
        #expect(bench.places[target] == (try bench.current(web)))
    }

    /// Otherwise one that never ends would be hidden by reloading every hour.
    @Test func aReloadDoesNotMakeADeploymentYounger() throws {
        let bench = try Bench(try deployed()).started()
        bench.isDeploying = true
        try bench.renew(web)
        bench.pass(3000)
        #expect(try bench.view(web).health == .ok)
        bench.reload(try deployed(), 2)
        bench.pass(900)
        #expect(try bench.view(web).health == .degraded)
    }

    /// One client's place never holds another client's deployment back.
    @Test func aContestedValueHoldsNoDeploymentOfOthersBack() throws {
        let bench = try leftAlone(Bench(try deployed()).started())
        #expect(!bench.rotation.isGood(target), "it is repaired at most once an hour")
        bench.forget()
        try bench.renew("api")
        #expect(bench.runs == ["redeploy shop for api"])
    }

    /// The application may have been told last while another program's secret was there.
    @Test func theActionsRunOnceMoreWhenAPlaceIsNotContestedAnyMore() throws {
        let bench = try leftAlone(settled(actions: [action]))
        #expect(try output(bench).state == .contested)
        bench.forget()
        bench.pass(3600)
        #expect(!bench.log.contains { $0.hasPrefix("run ") })
        bench.pass(8 * 3600)
        #expect(try output(bench).state == .ok)
        #expect(bench.log.count { $0.hasPrefix("run ") } == 1)
        #expect(try bench.view(web).delivered)
    }

    /// The application was told of it before it was there.
    @Test func theActionsOfANewSecretDoNotWaitForTheEndOfAContest() throws {
        let bench = try leftAlone(settled(actions: [action]))
        bench.pass(3600)
        #expect(bench.rotation.isGood(target), "it was repaired while it was contested")
        #expect(try output(bench).state == .contested)
        bench.failures[resource] = failure()
        try bench.renew(web)
        #expect(bench.answer() != nil, "no request has the actions run sooner")
        bench.failures = [:]
        bench.forget()
        bench.pass(60)
        #expect(bench.places[target] == (try bench.current(web)))
        #expect(bench.runs.count == 1)
    }

    /// A provider that is switched off has the secret, and nobody can log in.
    @Test(arguments: [true, false]) func aPlaceThatIsSwitchedOffIsAWarningUntilItIsOn(isShown: Bool) throws {
        let bench = try settled(actions: [action], isBlind: !isShown)
        bench.use[target] = .unused("enabled is false")
        try bench.renew(web)
        #expect(bench.answer() == .renewed([try bench.renewed(web)]))
        let warning = Failure(.pushSwitchedOff, at: .target(target), detail: "'enabled is false'")
        for _ in 1...3 {
            #expect(try output(bench).state == .ok)
            #expect(try output(bench).error == warning.message)
            let view = try bench.view(web)
            #expect(view.health == .degraded && view.delivered)
            #expect(view.reason?.failure == warning)
            bench.pass(3600)
        }
        #expect(requests(bench).count { $0 == "push production" } == 1)
        #expect(bench.log.count { $0.hasPrefix("run ") } == 1)
        // Also where the API shows nothing else, it is noticed within the hour.
        bench.use[target] = .used
        bench.pass(3600)
        #expect(try bench.view(web).health == .ok)
        #expect(try output(bench).error == nil)
        bench.use[target] = .unused("enabled is false")
        bench.pass(3600)
        #expect(try bench.view(web).reason?.failure == warning)
        // What keeps the secret from applications goes before it.
        bench.failures[resource] = failure()
        try bench.renew(web)
        #expect(try bench.view(web).reason?.failure == failure())
    }

    // MARK: Reading what is older than a write

    /// Supabase shows the old value for a minute and a half.
    @Test func writesOnceAndRunsActionsOnceWhileAReadIsStale() throws {
        let bench = try settled(actions: [action])
        bench.stale = [target]
        try bench.renew(web)
        #expect(bench.answer() == .renewed([try bench.renewed(web)]))
        bench.pass(90)
        #expect(try output(bench).verified == false)
        #expect(try bench.view(web).health == .ok)
        bench.reload(try configuration(actions: [action]))
        bench.stale = []
        bench.pass(60)
        #expect(try output(bench).verified == true)
        bench.pass(3600)
        #expect(requests(bench).count { $0 == "push production" } == 1)
        #expect(bench.log.count { $0.hasPrefix("run ") } == 1)
        #expect(try output(bench).repairs == 0)
    }

    /// A value that lasts for five minutes is another program's.
    @Test func writesAgainWhenAContradictionHasLastedFiveMinutes() throws {
        let bench = try settled()
        try bench.renew(web)
        bench.forget()
        bench.places[target] = other
        bench.ask(.renew(.init(clients: [try Values.name(web)], deliverOnly: true)), 2)
        bench.pass(299)
        #expect(!requests(bench).contains("push production"), "\(requests(bench))")
        bench.pass(61)
        #expect(requests(bench).count { $0 == "push production" } == 1)
        #expect(bench.places[target] == (try bench.current(web)))
        #expect(try output(bench).repairs == 1)
    }

    /// It says "done", and its answer to a read is another secret.
    @Test func aValueThatAnAPIDoesNotKeepIsAFailureUntilItShowsIt() throws {
        let bench = try Bench(try configuration())
        bench.stale = [target]
        bench.go()
        bench.pass(299)
        #expect(requests(bench).count { $0 == "push production" } == 1)
        bench.pass(61)
        for _ in 1...40 {
            #expect(try output(bench).state == .failed)
            #expect(try bench.view(web).reason?.failure == failure(.pushNotKept))
            bench.pass(17)
        }
        bench.pass(86_400)
        #expect(try bench.view(web).health == .degraded)
        let count = requests(bench).count { $0 == "push production" }
        #expect((5...30).contains(count), "\(count) pushes in a day")
        #expect(bench.entries.count { if case .failing = $0 { true } else { false } } <= 25)
        bench.stale = []
        bench.pass(3600)
        #expect(try output(bench).verified == true)
        // Contested until the last three repairs are six hours ago.
        bench.pass(25_000)
        #expect(try output(bench).state == .ok)
        #expect(try bench.view(web).health == .ok)
    }

    @Test(arguments: [0, 90, 100_000]) func onceWaitsUntilTheAPIShowsItOrFiveMinutes(seconds: Int64) throws {
        let bench = try Bench(try configuration(), once: true)
        bench.stale = seconds > 0 ? [target] : []
        bench.go()
        #expect(bench.lastStep.ended == (seconds == 0))
        bench.pass(min(seconds, 299))
        #expect(bench.lastStep.ended == (seconds == 0))
        if seconds < 299 { bench.stale = [] }
        for _ in 1...61 where !bench.lastStep.ended { bench.pass(1) }
        #expect(bench.lastStep.ended)
        let isKept = bench.stale.isEmpty
        #expect(try output(bench).state == (isKept ? .ok : .failed))
        #expect(try output(bench).verified == (isKept ? true : false))
        #expect(try bench.view(web).reason?.failure == (isKept ? nil : failure(.pushNotKept)))
        #expect(try bench.view(web).delivered == isKept)
        #expect(requests(bench).count { $0 == "push production" } == 1)
    }

    /// Nor does a restart make an old answer a new one.
    @Test func writesNothingAgainAfterARestartWhileAReadIsStale() throws {
        let bench = try settled()
        bench.stale = [target]
        try bench.restart(try configuration())
        bench.pass(90)
        bench.stale = []
        bench.pass(60)
        #expect(!requests(bench).contains("push production"), "\(requests(bench))")
        #expect(try output(bench).verified == true)
    }

    /// A digest that was recognised once is a secret of another's when it is not.
    @Test(arguments: [false, true]) func takesADigestThatIsNotRecognisedAnyMoreForAChange(isRestarted: Bool) throws {
        let bench = try settled()
        bench.pass(600)
        bench.forget()
        bench.blind = [target]
        if isRestarted { try bench.restart(try configuration()) }
        bench.pass(isRestarted ? 10 : 3600)
        #expect(requests(bench).prefix(2) == ["ask production", "push production"])
    }

    /// An answer that may be from before the write, and then a second restart.
    @Test func remembersThatTheAPIShowsSecretsWhileAReadIsStale() throws {
        let bench = try settled()
        bench.blind = [target]
        try bench.restart(try configuration())
        bench.pass(10)
        #expect(try output(bench).verified == false)
        try bench.restart(try configuration())
        bench.pass(10)
        #expect(try output(bench).verified == false)
        bench.forget()
        bench.pass(300)
        #expect(requests(bench).contains("push production"))
    }

    // MARK: Health

    /// The same judgement with and without the daemon, of a place that refuses what is pushed.
    @Test(
        arguments: [
            (.nothing, .critical), (.unusable, .critical),
            (.secret(expiresAt: Values.moment(9 * Values.day)), .critical),
            (.secret(expiresAt: Values.moment(11 * Values.day)), .degraded), (.something, .degraded), (nil, .degraded),
        ] as [(PushPlaceContent?, HealthState)])
    func aPlaceIsJudgedByWhatTheAPIShows(content: PushPlaceContent?, health: HealthState) throws {
        for outputs in [[], nil] as [[Output]?] {
            let bench = try Bench(try configuration(outputs: outputs))
            bench.failures[resource] = Failure(.pushChangeRefused, at: .target(target), placeContent: content)
            bench.go()
            #expect(try bench.view(web).health == health)
            #expect(try bench.view(web).reason?.failure.code == .pushChangeRefused)
            #expect(try offline(bench) == health)
            // Nor is it forgotten at a restart.
            bench.failures[resource] = failure()
            try bench.restart(try configuration(outputs: outputs))
            #expect(try bench.view(web).health == health)
            bench.failures = [:]
            bench.pass(900)
            #expect(try bench.view(web).health == .ok)
            #expect(try offline(bench) == .ok)
        }
    }

    /// By what the state directory and the files hold.
    private func offline(_ bench: Bench) throws -> HealthState? {
        let configuration = bench.rotation.configuration
        let files = configuration.files.mapValues { spec in
            bench.disk[spec.path].map(Result<FileObservation, Failure>.success)
                ?? .failure(Failure(.noSecret, at: .path(spec.path)))
        }
        let all = configuration.evaluate(
            files, [try Values.key(): .key(try Values.print("1"))], records: bench.records,
            builtAt: Values.moment(-365 * Values.day), at: bench.now)
        return try all.first { $0.client == (try Values.name(web)) }?.health
    }

    /// It says "done" each time, and its answer to a read stays the same.
    @Test func aPlaceThatStaysEmptyIsCriticalUntilTheAPIShowsASecret() throws {
        let bench = try Bench(try configuration(outputs: []))
        bench.stale = [target]
        bench.instead = [target: .nothing]
        bench.go()
        bench.pass(299)
        #expect(try bench.view(web).health == .ok)
        bench.pass(61)
        for _ in 1...40 {
            #expect(try bench.view(web).health == .critical)
            #expect(try bench.view(web).reason?.failure == failure(.pushNotKept))
            #expect(try offline(bench) == .critical)
            bench.pass(97)
        }
        bench.stale = []
        bench.instead = [:]
        bench.pass(3600)
        #expect(try bench.view(web).health != .critical)
    }
}
