import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A client's health: evaluated from what its files and applications hold, not from what was intended.
@Suite struct HealthTests {
    private let web = "web"
    private let after = Values.exec("/bin/after")
    /// A third of `renew_before`.
    private let third = 10 * Values.day

    private func bench(_ entry: ClientConfiguration? = nil) throws -> Bench {
        try Bench([web: try entry ?? Values.client(web)])
    }

    private func found(_ number: UInt64, to: Int64, signer: Character? = "1", id: String = "com.example.web") throws
        -> SecretInfo
    {
        try Values.issued(number, id: id, from: -60, to: to, signer: signer.map(Values.print))
    }

    /// A client whose secret cannot be replaced any more.
    private func stuck() throws -> Bench {
        let bench = try bench().started()
        bench.held = [.client(try Values.name(web))]
        return bench
    }

    @Test func everythingDoneIsOK() throws {
        let bench = try bench(try Values.client(web, actions: [after])).started()
        let view = try bench.view(web)
        let current = try #require(try bench.current(web))
        #expect(view.health == .ok)
        #expect(view.reason == nil)
        #expect(view.current == current)
        #expect(view.deliveredExpiresAt == current.expiresAt)
        #expect(view.renewAt == Values.moment(60 * Values.day))
        #expect(view.renewals == 1)
        #expect(view.consecutiveFailures == 0)
        #expect(view.lastError == nil)
        #expect(view.delivered)
        #expect(view.outputs.map(\.state) == [.ok])
        #expect(view.outputs.map(\.writtenAt) == [Values.moment(0)])
        #expect(view.actions.map(\.state) == [.ok])
        #expect(view.actions.map(\.ranAt) == [Values.moment(0)])
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.health == .ok)
        #expect(snapshot.reason == nil)
        #expect(snapshot.ready)
        #expect(snapshot.clockTrusted)
    }

    @Test func aSecretIsCriticalFromExactlyAThirdOfRenewBeforeOn() throws {
        let bench = try stuck()
        bench.pass(90 * Values.day - third - 1)
        #expect(try bench.view(web).health == .degraded)
        bench.pass(1)
        #expect(try bench.view(web).health == .critical)
        #expect(bench.rotation.snapshot(at: bench.now).health == .critical)
    }

    @Test func withoutAnotherFailureTheReasonIsTheTimeThatIsLeft() throws {
        // Applications were last notified of a secret that is about to expire.
        let bench = try bench(try Values.client(web, actions: [after]))
        let old = try found(1, to: third + 100)
        bench.records[try Values.name(web), default: Record()].delivered = [after.id: old]
        bench.held = [.action(after.id)]
        bench.go()
        #expect(try bench.view(web).health == .degraded)
        // To run it again would only wait for it.
        let wait = Remedy.say("wait until exec /bin/after has ended")
        #expect(
            try bench.view(web).reason?.failure
                == Failure(.notDelivered, at: .client(try Values.name(web)), remedy: wait))
        bench.pass(100)
        func failure(_ verb: String) throws -> Failure {
            let words = "applications may still have a secret that \(verb) at \(old.expiresAt)"
            return Failure(.notDelivered, at: .client(try Values.name(web)), detail: words, remedy: wait)
        }
        #expect(try bench.view(web).reason?.failure == failure("expires"))
        #expect(try bench.view(web).health == .critical)
        bench.pass(60)
        try bench.debounce("web.jwt")
        #expect(try bench.view(web).reason?.since == Values.moment(100))
        bench.pass(third)
        #expect(try bench.view(web).reason?.failure == failure("expired"))
        #expect(try bench.view(web).deliveredExpiresAt == old.expiresAt)
    }

    /// A clock that was ahead has minted what the application was given. The right secret is in its file.
    @Test func anApplicationWithASecretThatAppleRefusesIsCritical() throws {
        let bench = try bench(try Values.client(web, actions: [after])).started()
        bench.step(20 * Values.day)
        try bench.renew(web)
        let ahead = try #require(try bench.current(web))
        bench.pass(60)
        #expect(try bench.view(web).delivered)
        bench.held = [.action(after.id)]
        bench.step(-20 * Values.day)
        let current = try #require(try bench.current(web))
        #expect(current != ahead)
        #expect(try bench.held(in: "web.jwt") == current)
        #expect(try bench.view(web).health == .critical)
        let words = "applications may still have a secret that was issued in the future, at \(ahead.issuedAt)"
        let wait = Remedy.say("wait until exec /bin/after has ended")
        #expect(
            try bench.view(web).reason?.failure
                == Failure(.notDelivered, at: .client(try Values.name(web)), detail: words, remedy: wait))
        bench.fail(.action(after.id), Failure(.actionFailed, at: .action(after.id)))
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .actionFailed)
        // As in any emergency, each minute.
        bench.failures = [.action(after.id): Failure(.actionFailed, at: .action(after.id))]
        bench.pass(3600)
        bench.forget()
        bench.pass(600)
        #expect(bench.runs.count >= 9)
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.view(web).health == .ok)
    }

    /// Nothing reads it but the unit that the credential socket serves.
    @Test func aCredentialThatAppleRefusesIsCritical() throws {
        let bench = try bench(try Values.client(web, outputs: [])).started()
        bench.step(20 * Values.day)
        try bench.renew(web)
        #expect(try bench.view(web).health == .ok)
        bench.held = [.client(try Values.name(web))]
        bench.step(-20 * Values.day)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .secretUnacceptable)
        bench.release(.client(try Values.name(web)))
        #expect(try bench.view(web).health == .ok)
    }

    /// The critical state is shown meanwhile, and is no news: the action ends it, or it fails and is logged.
    @Test func aFirstDeliveryOverAnExpiredSecretIsNotLogged() throws {
        for isFailing in [false, true] {
            let bench = try bench(try Values.client(web, actions: [after]))
            bench.records[try Values.name(web), default: Record()].delivered = [after.id: try found(1, to: -30)]
            bench.held = [.action(after.id)]
            bench.go()
            #expect(try bench.view(web).health == .critical)
            #expect(try bench.view(web).reason?.failure.remedy == .say("wait until exec /bin/after has ended"))
            func logged() -> [HealthState] {
                bench.entries.compactMap { if case .health(_, let health, _) = $0 { health } else { nil } }
            }
            #expect(logged() == [])
            bench.held = []
            if isFailing {
                bench.fail(.action(after.id), Failure(.actionFailed, at: .action(after.id)))
            } else {
                bench.release(.action(after.id))
            }
            #expect(logged() == (isFailing ? [.critical] : []))
            #expect(try bench.view(web).health == (isFailing ? .critical : .ok))
        }
    }

    @Test(arguments: ["something else", "a forged secret", "another client's secret"])
    func anOutputThatHoldsNoSecretIsCriticalWhateverTheOthersHold(what: String) throws {
        for order in [["a", "b"], ["b", "a"]] {
            let bench = try bench(try Values.client(web, outputs: [Values.raw("a"), Values.raw("b")]))
            // Signed by another key of ours: only its expiry counts.
            try bench.place(found(1, to: 80 * Values.day, signer: "2"), in: order[0])
            switch what {
            case "something else": try bench.place(nil, in: order[1])
            case "a forged secret": try bench.place(found(3, to: 80 * Values.day, signer: nil), in: order[1])
            case "another client's secret":
                try bench.place(found(3, to: 80 * Values.day, id: "com.example.x"), in: order[1])
            default: Issue.record("unknown: \(what)")
            }
            bench.held = [.client(try Values.name(web))]
            bench.go()
            #expect(try bench.view(web).health == .critical)
            let code: Failure.Code = what == "something else" ? .noSecret : .secretUnacceptable
            #expect(try bench.view(web).reason?.failure.code == code)
        }
    }

    /// One that lives for too long, one of the future, near or far, and one with another id of its key.
    @Test(
        arguments: [
            ("ABC123DEFG", -60, 365 * Values.day), ("ABC123DEFG", 600, 90 * Values.day),
            ("ABC123DEFG", 360_000 * Values.day, 370_000 * Values.day * 4), ("ZZZZZZZZZZ", -60, 90 * Values.day),
        ] as [(String, Int64, Int64)])
    func aPublishedSecretThatAppleRefusesIsCritical(keyID: String, from: Int64, to: Int64) throws {
        let bench = try bench()
        try bench.place(
            Values.issued(1, keyID: keyID, from: from, to: to, signer: Values.print("1")), in: "web.jwt")
        try bench.failWrites(of: "web.jwt")
        bench.go()
        #expect(try bench.view(web).health == .critical)
        bench.pass(60)
        #expect(try bench.view(web).health == .critical)
    }

    @Test func aClientThatWasNeverDeliveredIsDegradedUntilItIs() throws {
        let bench = try bench(try Values.client(web, actions: [after]))
        bench.failures = [.action(after.id): Failure(.actionFailed, at: .action(after.id), detail: "exit status 1")]
        bench.go()
        let view = try bench.view(web)
        #expect(view.health == .degraded)
        #expect(view.deliveredExpiresAt == nil)
        #expect(!view.delivered)
        #expect(view.consecutiveFailures == 1)
        #expect(view.lastError == bench.failures[.action(after.id)]?.message)
        bench.failures = [:]
        bench.pass(30)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aClientWithoutOutputsStandsByItsSecret() throws {
        let bench = try bench(try Values.client(web, outputs: []))
        bench.held = [.client(try Values.name(web))]
        bench.go()
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).deliveredExpiresAt == nil)
        bench.release(.client(try Values.name(web)))
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).deliveredExpiresAt == bench.current(web)?.expiresAt)
        #expect(bench.rotation.snapshot(at: bench.now).ready)
    }

    /// The daemon has no descriptor left when it reads a file for the first time: applications read it all the same.
    @Test func aFileThatOnlyTheDaemonCannotReadIsNotCritical() throws {
        for (code, health) in [(Failure.Code.outOfDescriptors, HealthState.degraded), (.ioError, .critical)] {
            let bench = try bench()
            try bench.place(found(1, to: 80 * Values.day), in: "web.jwt")
            bench.failures = [.file(try Values.path("web.jwt")): try Values.failure(code, "web.jwt")]
            bench.go()
            #expect(try bench.view(web).health == health)
            #expect(try bench.view(web).reason?.failure.code == code)
        }
    }

    @Test func lookingAgainIsNoReasonToWorry() throws {
        let bench = try bench().settled()
        bench.held = [.file(try Values.path("web.jwt"))]
        try bench.debounce("web.jwt")
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).delivered)
        #expect(bench.entries == [])
    }

    @Test func aReasonKeepsItsBeginningAndSaysWhenItIsTriedAgain() throws {
        let bench = try bench()
        try bench.failWrites(of: "web.jwt")
        bench.go()
        bench.pass(600)
        let reason = try #require(try bench.view(web).reason)
        #expect(try reason.failure == Values.failure(.diskFull, "web.jwt"))
        #expect(reason.client == (try Values.name(web)))
        #expect(reason.since == Values.moment(0))
        let next = try #require(reason.nextAttempt)
        #expect(next > bench.now.wall && next <= bench.now.wall + 60)
        #expect(try bench.view(web).consecutiveFailures > 6)
        // The write is under way.
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.pass((next - bench.now.wall).count)
        #expect(try bench.view(web).reason?.failure == reason.failure)
        #expect(try bench.view(web).reason?.nextAttempt == nil)
    }

    @Test func aConfigurationThatWouldNotStartIsReportedBeforeADegradedClient() throws {
        let bench = try bench(try Values.client(web, actions: [after]))
        bench.held = [.action(after.id)]
        bench.go()
        bench.text = .success(.refused(["line"]))
        bench.ask(.reload)
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure.code == .configurationRefused)
        bench.disk = [:]
        bench.failingWrites = [try Values.path("web.jwt"): Failure(.diskFull, at: .clock)]
        try bench.debounce("web.jwt")
        #expect(bench.rotation.snapshot(at: bench.now).health == .critical)
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure.code == .diskFull)
    }

    @Test func theWorstClientSpeaksForAll() throws {
        let bench = try Bench(
            try Values.configuration(
                ["a": Values.client("a"), "b": Values.client("b", key: "spare"), "c": Values.client("c")],
                keys: Values.withSpareKey()))
        try bench.place(
            Values.issued(1, id: "com.example.a", to: 60 * Values.day, signer: Values.print("1")), in: "a.jwt")
        bench.disk[try Values.path("a.jwt")]?.isAsConfigured = false
        try bench.failWrites(of: "a.jwt", .groupNotPermitted)
        bench.prints[try Values.key("spare")] = nil
        bench.go()
        let snapshot = bench.rotation.snapshot(at: bench.now)
        #expect(snapshot.clients.map(\.health) == [.degraded, .critical, .ok])
        #expect(snapshot.health == .critical)
        #expect(snapshot.reason?.client == (try Values.name("b")))
    }

    @Test func theNextAttemptForAMissingRequirementIsReported() throws {
        let bench = try bench().started()
        let failure = Failure(.metricsFileUnwritable, at: .path(try Values.path("m.prom")))
        let began = bench.now.wall
        bench.tell(.faultRaised(failure, nextAttempt: bench.now.boot + 4))
        #expect(bench.rotation.snapshot(at: bench.now).reason?.nextAttempt == began + 4)
        bench.pass(4)
        bench.tell(.faultRaised(failure, nextAttempt: bench.now.boot + 8))
        let reason = bench.rotation.snapshot(at: bench.now).reason
        #expect(reason?.since == began && reason?.nextAttempt == began + 12)
        bench.tell(.faultCleared(.metricsFileUnwritable))
        #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
    }

    @Test func aFileThatIsBeingRepairedDoesNotMeanThatThereIsNoSecret() throws {
        let bench = try bench().started()
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.disk[try Values.path("web.jwt")] = FileObservation(slots: [:], exists: false)
        bench.tell(.changeNoticed(.file(try Values.path("web.jwt"))))
        bench.pass(2)
        bench.held = []
        let entries = bench.entries.count
        bench.release(.file(try Values.path("web.jwt")))
        let failures = bench.entries[entries...].compactMap {
            if case .health(_, .critical, let reason) = $0 { reason?.failure.code } else { nil }
        }
        #expect(failures == [.notPublished])
    }

    /// Another program goes on writing there: the file is read, and not written yet.
    private func keepBad(_ file: String, _ bench: Bench, holding secret: SecretInfo?) throws {
        for _ in 0..<5 {
            try bench.place(secret, in: file)
            bench.tell(.changeNoticed(.file(try Values.path(file))))
            bench.pass(1)
        }
        #expect(try bench.view(web).outputs.map(\.state).last == .pending)
    }

    /// A reason is looked into: it names the place that causes the state, not one that is merely not in order either.
    @Test func theReasonComesFromThePlaceThatCausesTheState() throws {
        let outputs = [try Values.raw("a"), try Values.raw("b")]
        let missing = Failure(.notPublished, at: .client(try Values.name(web)), detail: "/out/b")

        // The other file is contested and holds the secret.
        let contested = try bench(try Values.client(web, outputs: outputs)).started()
        let old = try #require(try contested.current(web))
        for _ in 0..<3 {
            try contested.place(nil, in: "a")
            contested.tell(.changeNoticed(.file(try Values.path("a"))))
            contested.pass(60)
        }
        #expect(try contested.view(web).reason?.failure == Failure(.contested, at: .path(try Values.path("a"))))
        try keepBad("b", contested, holding: nil)
        #expect(try contested.view(web).health == .critical)
        #expect(try contested.view(web).reason?.failure == missing)
        contested.pass(60)
        #expect(try contested.view(web).reason?.failure == Failure(.contested, at: .path(try Values.path("a"))))
        // Nor does it hide a file with an earlier secret.
        contested.ask(.renew(.init()))
        try keepBad("b", contested, holding: old)
        #expect(try contested.view(web).health == .degraded)
        #expect(try contested.view(web).reason?.failure == missing)

        // The other file cannot be written and holds an earlier secret.
        let failing = try bench(try Values.client(web, outputs: outputs)).started()
        try failing.failWrites(of: "a")
        failing.ask(.renew(.init()))
        #expect(try failing.view(web).reason?.failure == Values.failure(.diskFull, "a"))
        try keepBad("b", failing, holding: nil)
        #expect(try failing.view(web).health == .critical)
        #expect(try failing.view(web).reason?.failure.detail == "/out/a, /out/b")

        // An action fails.
        let acting = try bench(try Values.client(web, outputs: outputs, actions: [after]))
        acting.failures = [.action(after.id): Failure(.actionFailed, at: .action(after.id))]
        acting.go()
        #expect(try acting.view(web).reason?.failure.code == .actionFailed)
        try keepBad("b", acting, holding: nil)
        #expect(try acting.view(web).health == .critical)
        #expect(try acting.view(web).reason?.failure == missing)
    }

    /// There is a secret to publish, whatever fails on the way to the next one.
    @Test func theReasonIsWhatKeepsASecretFromItsPlace() throws {
        let bench = try bench().started()
        let path = try Values.path("web.jwt")
        try bench.replaceKey(by: nil, passing: 5)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure.code == .keyMissing)
        let isFolder = try Values.failure(.isDirectory, "web.jwt").seeing([:])
        bench.failures = [.file(path): isFolder]
        try bench.debounce("web.jwt")
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure == isFolder)
        #expect(bench.rotation.impairment(of: try Values.name(web), at: bench.now)?.failure == isFolder)
        // The secret in its place, the key is all that is wrong; once it runs out, it is why.
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.view(web).health == .degraded)
        bench.sleep(85 * Values.day)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .keyMissing)
    }

    // MARK: Outputs that the daemon refuses

    @Test(
        arguments: [
            (Failure.Code.isDirectory, [:], HealthState.critical), (.outputMalformed, [:], .critical),
            (.fileTooLarge, [:], .critical), (.untrustedLink, [.whole: .foreign], .critical),
            (.unguardedDirectory, [.whole: .unusable(.algorithm)], .critical),
            (.permissionDenied, nil, .degraded), (.ioError, nil, .degraded),
        ] as [(Failure.Code, [FileSlot: SlotObservation]?, HealthState)])
    func whatARefusedOutputIsSeenToHoldCounts(
        code: Failure.Code, seen: [FileSlot: SlotObservation]?, health: HealthState
    ) throws {
        let bench = try Bench([web: Values.client(web)]).started()
        let path = try Values.path("web.jwt")
        let failure = Failure(code, at: .path(path)).seeing(seen)
        bench.failures = [.file(path): failure]
        try bench.debounce("web.jwt")
        bench.pass(5)
        #expect(try bench.view(web).health == health)
        #expect(try bench.view(web).reason?.failure == failure)
        #expect(try bench.view(web).deliveredExpiresAt == (seen == nil ? bench.current(web)?.expiresAt : nil))
        // What cannot be known later changes nothing.
        bench.failures = [.file(path): Failure(.permissionDenied, at: .path(path))]
        bench.pass(600)
        #expect(try bench.view(web).health == health)
        bench.failures = [:]
        bench.pass(3_600)
        #expect(try bench.view(web).health == .ok)
    }

    /// A directory that others may write to: applications still read the current secret, or an old one.
    @Test func aSecretInARefusedOutputIsJudgedByItsExpiry() throws {
        let bench = try Bench([web: Values.client(web)]).started()
        let path = try Values.path("web.jwt")
        let current = try #require(try bench.current(web))
        for (secret, health) in [
            (current, HealthState.degraded),
            (try Values.issued(9, from: -85 * Values.day, to: 5 * Values.day, signer: Values.print("1")), .critical),
        ] {
            let failure = Failure(.unguardedDirectory, at: .path(path)).seeing([.whole: .secret(secret)])
            bench.failures = [.file(path): failure]
            try bench.debounce("web.jwt")
            bench.pass(5)
            #expect(try bench.view(web).health == health)
            // A stranger may have put it there.
            #expect(try bench.current(web) == current)
        }
    }
}
