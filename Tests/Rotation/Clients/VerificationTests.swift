import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What becomes of a new secret of a client with `verify: true`, by what Apple says of it.
@Suite struct VerificationTests {
    private let web = "web"
    private static let critical = 10 * Values.day

    private func configuration(_ names: [String] = ["web"], verify: Bool = true) throws -> Configuration {
        var configuration = try Values.configuration(
            names.reduce(into: [:]) { $0[$1] = try Values.client($1) })
        for name in configuration.clients.keys { configuration.clients[name]?.verify = verify }
        return configuration
    }

    /// A daemon that has published an accepted secret.
    private func settled(_ names: [String] = ["web"]) throws -> Bench {
        let bench = try Bench(try configuration(names)).started()
        // The rate limit of the first requests is over.
        bench.pass(3600)
        for name in names { #expect(try bench.view(name).verification?.verdict == .accepted) }
        bench.forget()
        return bench
    }

    private func refuse(_ bench: Bench, _ name: String = "web") throws {
        let client = try Values.name(name)
        bench.verdicts[client] = .failure(
            Failure(.refusedByApple, at: .client(client), detail: "invalid_client"))
    }

    private func silence(_ bench: Bench, _ code: Failure.Code = .verdictUnknown) throws {
        let client = try Values.name(web)
        bench.verdicts[client] = .failure(Failure(code, at: .client(client), detail: "it cannot be reached"))
    }

    private func accept(_ bench: Bench, _ name: String = "web") throws {
        bench.verdicts[try Values.name(name)] = nil
    }

    private func requests(_ bench: Bench) -> Int {
        bench.works.count { if case .verify = $0 { true } else { false } }
    }

    /// Renews, and returns the secret that is published before and the one that is to replace it.
    private func renew(_ bench: Bench) throws -> (old: SecretInfo, new: SecretInfo) {
        let old = try #require(try bench.held(in: "web.jwt"))
        bench.ask(.renew(.init()))
        let new = bench.entries.compactMap { if case .minted(_, let secret, _) = $0 { secret } else { nil } }.last
        return (old, try #require(new))
    }

    // MARK: Verdicts

    /// What Apple answers in turn: y accepts, n refuses, and with ? it is not reached.
    @Test(arguments: [
        ("", VerificationView.Verdict.pending, false, true), ("?", .unknown, false, false),
        ("n", .pending, false, true),
        ("nn", .refused, true, false), ("?n", .pending, false, true), ("n?", .unknown, false, true),
        ("n?n", .refused, true, false), ("nn?", .refused, true, false), ("y", .accepted, false, false),
        ("ny", .accepted, false, false), ("nny", .accepted, false, false),
    ])
    func theSecondRefusalCounts(
        answers: String, verdict: VerificationView.Verdict, isRefused: Bool, isUndecided: Bool
    ) throws {
        let client = Failure.Place.client(try Values.name(web))
        let now = Now(wall: Values.moment(0), boot: BootTime(milliseconds: 0), kernelSynced: true)
        var verification = Verification(try Values.issued(1, signer: nil))
        for answer in answers {
            switch answer {
            case "y": verification.accepted()
            case "n": _ = verification.failed(Failure(.refusedByApple, at: client, detail: "no"), at: now)
            default: _ = verification.failed(Failure(.verdictUnknown, at: client), at: now)
            }
        }
        #expect(verification.view.verdict == verdict)
        #expect(verification.view.code == (verdict != .accepted && answers.contains("n") ? "no" : nil))
        #expect((verification.refusal != nil) == isRefused)
        #expect(verification.isUndecided == isUndecided)
        #expect((verification.candidate == nil) == (verdict == .accepted))
        // Only a single refusal has its own pause.
        #expect(WakeTimer.peek(at: now) { verification.mayAsk(&$0) } == (answers.last != "n" || isRefused))
    }

    @Test func anAcceptedSecretIsPublishedOnlyThen() throws {
        let bench = try settled()
        let verification = Resource.verification(try Values.name(web))
        bench.held = [verification]
        let (old, new) = try renew(bench)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(bench.answer() == nil)
        #expect(bench.records[try Values.name(web)]?.candidate == new)
        #expect(try bench.view(web).verification?.verdict == .pending)
        bench.release(verification)
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(bench.answer() == .renewed([try bench.renewed(web)]))
        #expect(bench.log == ["observe web.jwt", "mint web", "keep web", "verify web", "keep web", "publish web.jwt"])
        #expect(bench.entries.contains(.accepted(try Values.name(web), new)))
        #expect(bench.records[try Values.name(web)]?.candidate == nil)
    }

    @Test func aSecretThatIsRefusedTwiceIsNotPublished() throws {
        let bench = try settled()
        try refuse(bench)
        let (old, _) = try renew(bench)
        #expect(try bench.view(web).health == .ok)
        #expect(requests(bench) == 1)
        bench.pass(59)
        #expect(requests(bench) == 1)
        bench.pass(2)
        #expect(requests(bench) == 2)
        #expect(try bench.held(in: "web.jwt") == old)
        let view = try bench.view(web)
        #expect(view.health == .degraded)
        #expect(view.reason?.failure.message == #"client "web": Apple refused the new secret: invalid_client"#)
        #expect(view.verification?.verdict == .refused)
        #expect(view.verification?.code == "invalid_client")
        #expect(bench.answer() == .renewed([try bench.failed(web, try #require(view.reason?.failure))]))
        bench.sleep(70 * Values.day)
        #expect(try bench.held(in: "web.jwt") == old)
    }

    @Test func asksAgainAboutARefusedSecretAndPublishesItOnceItIsAccepted() throws {
        let bench = try settled()
        try refuse(bench)
        let (_, new) = try renew(bench)
        bench.pass(Values.day)
        #expect(try bench.view(web).health == .degraded)
        try accept(bench)
        bench.pass(900)
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aSingleRefusalIsNoFailure() throws {
        let bench = try settled()
        try refuse(bench)
        let (_, new) = try renew(bench)
        try accept(bench)
        bench.pass(61)
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(!bench.entries.contains { if case .failing = $0 { true } else { false } })
    }

    @Test func aRefusedSecretReplacesOneThatHasExpired() throws {
        let bench = try settled()
        try refuse(bench)
        let (old, _) = try renew(bench)
        bench.pass(61)
        bench.sleep(old.expiresAt.secondsSinceEpoch - bench.now.wall.secondsSinceEpoch - 1)
        #expect(try bench.held(in: "web.jwt") == old)
        bench.pass(1)
        #expect(try bench.held(in: "web.jwt") != old)
        bench.pass(120)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .refusedByApple)
    }

    // MARK: Nothing is known

    /// The secret in force is then never critical because of Apple.
    @Test(arguments: [Failure.Code.verdictUnknown, .verifierMissing, .verifierSilent])
    func anUntriedSecretIsPublishedBeforeTheOneInForceIsCritical(_ code: Failure.Code) throws {
        let bench = try settled()
        try silence(bench, code)
        let (old, new) = try renew(bench)
        let critical = old.expiresAt.secondsSinceEpoch - Self.critical - bench.now.wall.secondsSinceEpoch
        bench.sleep(critical - 61)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure.code == code)
        bench.pass(1)
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(bench.entries.contains(.publishedUnverified(try Values.name(web), new)))
        bench.pass(120)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).verification?.verdict == .unknown)
        try accept(bench)
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
    }

    // MARK: Nothing to keep

    @Test(arguments: [true, false]) func aFirstSecretIsPublishedAtOnce(_ isRefused: Bool) throws {
        let bench = try Bench(try configuration())
        if isRefused { try refuse(bench) } else { try silence(bench) }
        let verification = Resource.verification(try Values.name(web))
        bench.held = [verification]
        bench.go()
        let first = try #require(try bench.current(web))
        #expect(try bench.held(in: "web.jwt") == first)
        #expect(bench.entries.contains(.ready))
        bench.release(verification)
        bench.pass(61)
        #expect(try bench.held(in: "web.jwt") == first)
        #expect(try bench.view(web).health == (isRefused ? .critical : .degraded))
        try accept(bench)
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
    }

    /// Its application may be refused as long as nobody has heard otherwise.
    @Test(arguments: [true, false]) func theSuccessorOfARefusedSecretInForceIsAsBadUntilItIsAccepted(_ isDown: Bool)
        throws
    {
        let bench = try refusedInForce()
        let refused = try #require(try bench.view(web).reason)
        let verification = Resource.verification(try Values.name(web))
        bench.held = [verification]
        let (old, new) = try renew(bench)
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(new != old)
        #expect(try bench.view(web).verification?.verdict == .pending)
        try expectRefused(bench, refused)
        if isDown { try silence(bench) }
        bench.release(verification)
        try expectRefused(bench, refused)
        bench.pass(59)
        try expectRefused(bench, refused)
        bench.pass(600)
        try expectRefused(bench, refused)
        #expect(!bench.entries.contains { if case .recovered = $0 { true } else { false } })
        #expect(!bench.entries.contains { if case .health = $0 { true } else { false } })
        try accept(bench)
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
        #expect(bench.entries.count { if case .health = $0 { true } else { false } } == 1)
    }

    /// The newest of two is held back, because nothing is known of the one in force; and that is no better for it.
    @Test func aSecondSuccessorOfARefusedSecretIsAsBad() throws {
        let bench = try refusedInForce()
        let refused = try #require(try bench.view(web).reason)
        bench.held = [.verification(try Values.name(web))]
        let (_, second) = try renew(bench)
        bench.ask(.renew(.init()), 2)
        #expect(try bench.held(in: "web.jwt") == second)
        try expectRefused(bench, refused)
        bench.release(.verification(try Values.name(web)))
        bench.pass(900)
        try expectRefused(bench, refused)
        try accept(bench)
        bench.pass(900)
        #expect(try bench.view(web).health == .ok)
    }

    /// Whoever repairs it by another key or key id is not told that all is well before it is.
    @Test(arguments: [true, false]) func aRefusedSecretInForceIsReplacedAtOnceByOneOfAnotherKey(_ isKeyID: Bool) throws
    {
        let bench = try refusedInForce()
        let refused = try #require(try bench.view(web).reason)
        let old = try #require(try bench.held(in: "web.jwt"))
        let verification = Resource.verification(try Values.name(web))
        bench.held = [verification]
        if isKeyID {
            try reloadWithOtherKeyID(bench)
        } else {
            try bench.replaceKey(by: "2", passing: 5)
        }
        #expect(try bench.held(in: "web.jwt") != old)
        try expectRefused(bench, refused)
        try accept(bench)
        bench.release(verification)
        // That its key is another one now is reported for a day.
        #expect(try bench.view(web).health == (isKeyID ? .ok : .degraded))
        #expect(try bench.view(web).reason?.failure.code == (isKeyID ? nil : .keyChanged))
    }

    @Test func skippingTheRequestTellsOfNoRefusal() throws {
        let bench = try refusedInForce()
        bench.ask(.renew(.init(skipVerify: true)))
        #expect(try bench.view(web).health == .ok)
    }

    /// A daemon whose first secret was refused twice.
    private func refusedInForce() throws -> Bench {
        let bench = try Bench(try configuration())
        try refuse(bench)
        bench.go()
        bench.pass(61)
        #expect(try bench.view(web).health == .critical)
        bench.forget()
        return bench
    }

    private func expectRefused(
        _ bench: Bench, _ reason: Reason, _ line: SourceLocation = #_sourceLocation
    ) throws {
        let view = try bench.view(web)
        #expect(view.health == .critical, sourceLocation: line)
        #expect(view.reason?.failure == reason.failure, sourceLocation: line)
        #expect(view.reason?.since == reason.since, sourceLocation: line)
    }

    // MARK: Shared actions

    private static let names = ["native", "web"]

    /// Two clients with one action, each with an accepted secret.
    private func sharing() throws -> Bench {
        var configuration = try configuration(Self.names)
        for name in configuration.clients.keys { configuration.clients[name]?.onChange = [Values.exec("/bin/app")] }
        let bench = try Bench(configuration).started()
        bench.pass(3600)
        for name in Self.names { #expect(try bench.view(name).health == .ok) }
        bench.forget()
        return bench
    }

    /// But not for long.
    @Test(arguments: [(19, ["native, web"]), (20, ["native", "web"])] as [(Int64, [String])])
    func anActionWaitsForTheVerdictsOnAllOfItsClients(seconds: Int64, covered: [String]) throws {
        let bench = try sharing()
        let second = Resource.verification(try Values.name("web"))
        bench.held = [second]
        bench.ask(.renew(.init()))
        bench.pass(seconds)
        #expect(try bench.held(in: "native.jwt") == bench.current("native"))
        #expect(bench.log.contains("publish native.jwt"))
        #expect(bench.runs.count == covered.count - 1)
        bench.release(second)
        bench.pass(3600)
        #expect(bench.runs == covered.map { "exec /bin/app for \($0)" })
    }

    /// Nor for one that Apple has refused, or says nothing of.
    @Test(arguments: [true, false]) func anActionDoesNotWaitWhereNoVerdictIsToCome(_ isRefused: Bool) throws {
        let bench = try sharing()
        let (first, second) = (try Values.name("native"), try Values.name("web"))
        if isRefused { try refuse(bench) } else { try silence(bench) }
        bench.ask(.renew(.init(clients: [second])))
        bench.pass(isRefused ? 70 : 1)
        bench.ask(.renew(.init(clients: [first])), 2)
        #expect(bench.runs.map { $0.hasSuffix("for native") } == [true])
    }

    @Test func anActionDoesNotWaitWhereASecretIsCritical() throws {
        let bench = try sharing()
        let (first, second) = (try Values.name("native"), try Values.name("web"))
        bench.failures[.client(first)] = Failure(.systemError, at: .client(first))
        bench.sleep(81 * Values.day)
        #expect(try bench.view("native").health == .critical)
        bench.held = [.verification(second)]
        bench.forget()
        bench.ask(.renew(.init(clients: [second])))
        bench.failures = [:]
        bench.ask(.renew(.init(clients: [first])), 2)
        #expect(bench.runs.map { $0.hasSuffix("for native") } == [true])
    }

    // MARK: Reload

    /// A reload that has new secrets minted.
    private func reloadWithOtherKeyID(_ bench: Bench, _ names: [String] = ["web"]) throws {
        var changed = try configuration(names)
        changed.keys[try Values.key()] = try Values.keyEntry(keyID: "XYZ123DEFG")
        bench.reload(changed)
    }

    @Test func aReloadWaitsUntilAppleWasAskedAndNamesTheFailure() throws {
        let bench = try settled()
        let verification = Resource.verification(try Values.name(web))
        bench.held = [verification]
        try reloadWithOtherKeyID(bench)
        #expect(bench.answer() == nil)
        let missing = Failure(.verifierMissing, at: .client(try Values.name(web)))
        bench.fail(verification, missing)
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(missing.message)"]))
    }

    /// It may be a stray one, and the second request is a minute away.
    @Test func aReloadDoesNotWaitForASecondRefusal() throws {
        let bench = try settled()
        try refuse(bench)
        try reloadWithOtherKeyID(bench)
        #expect(bench.answer() == .reloaded(unserved: []))
    }

    /// Apple is asked about one client after another, so a request that hangs holds back the next one.
    @Test func aReloadWaitsForAppleNoLongerThanHalfAMinute() throws {
        let names = ["a", "b"]
        let bench = try settled(names)
        bench.held = Set(try names.map { .verification(try Values.name($0)) })
        try reloadWithOtherKeyID(bench, names)
        bench.pass(29)
        #expect(bench.answer() == nil)
        bench.pass(1)
        #expect(bench.answer() == .reloaded(unserved: []))
    }

    // MARK: Keys

    @Test func aSecretOfAWrongKeyIsRefusedWhileTheOldOneStays() throws {
        let bench = try settled()
        let old = try #require(try bench.held(in: "web.jwt"))
        try refuse(bench)
        try bench.replaceKey(by: "2", passing: 120)
        #expect(requests(bench) > 1)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.view(web).reason?.failure.code == .refusedByApple)
        // The old key is put back.
        try bench.replaceKey(by: "1", passing: 60)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.view(web).health == .ok)
        #expect(bench.records[try Values.name(web)]?.candidate == nil)
    }

    @Test func aSecretOfAnotherKeyIDIsKeptUntilTheNewOneIsAccepted() throws {
        let bench = try settled()
        let old = try #require(try bench.held(in: "web.jwt"))
        try refuse(bench)
        try reloadWithOtherKeyID(bench)
        bench.pass(120)
        try bench.place(nil, in: "web.jwt")
        try bench.debounce("web.jwt")
        #expect(try bench.held(in: "web.jwt") == old)
        try accept(bench)
        bench.pass(900)
        #expect(try bench.held(in: "web.jwt")?.keyID.description == "XYZ123DEFG")
    }

    /// A file that another program keeps removing is not written at once because a new key id is configured.
    @Test func aContestedFileWaitsWhileASecretOfAnotherKeyIDIsMinted() throws {
        let bench = try settled()
        let old = try #require(try bench.held(in: "web.jwt"))
        for _ in 1...4 {
            try bench.place(nil, in: "web.jwt")
            try bench.debounce("web.jwt")
        }
        #expect(try bench.view(web).outputs.map(\.state) == [.contested])
        try refuse(bench)
        try reloadWithOtherKeyID(bench)
        #expect(try bench.held(in: "web.jwt") == nil)
        bench.pass(600)
        #expect(try bench.held(in: "web.jwt") == old)
    }

    // MARK: Restarts and reloads

    @Test(arguments: [true, false]) func aRestartPublishesNothingThatWasRefused(_ isDown: Bool) throws {
        let bench = try settled()
        try refuse(bench)
        let (old, _) = try renew(bench)
        bench.pass(120)
        #expect(bench.records[try Values.name(web)]?.refusal == "invalid_client")
        if isDown { try silence(bench) }
        try bench.restart(try configuration())
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.view(web).reason?.failure.code == .refusedByApple)
        #expect(!bench.log.contains("mint web"))
        bench.sleep(old.expiresAt.secondsSinceEpoch - bench.now.wall.secondsSinceEpoch - 60)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.view(web).verification?.verdict == .refused)
    }

    @Test func aRestartAsksAboutAnUntriedSecret() throws {
        let bench = try settled()
        bench.held = [.verification(try Values.name(web))]
        let (_, new) = try renew(bench)
        bench.held = []
        try bench.restart(try configuration())
        #expect(!bench.log.contains("mint web"))
        #expect(requests(bench) == 1)
        #expect(try bench.held(in: "web.jwt") == new)
    }

    @Test func takingVerifyAwayPublishesTheSecret() throws {
        let bench = try settled()
        try refuse(bench)
        let (_, new) = try renew(bench)
        bench.pass(120)
        bench.reload(try configuration(verify: false))
        #expect(try bench.held(in: "web.jwt") == new)
        #expect(try bench.view(web).health == .ok)
    }

    // MARK: Requests

    @Test func aRenewalMaySkipTheRequest() throws {
        let bench = try settled()
        try refuse(bench)
        bench.ask(.renew(.init(skipVerify: true)))
        #expect(requests(bench) == 0)
        #expect(bench.answer() == .renewed([try bench.renewed(web)]))
        bench.ask(.renew(.init()), 2)
        #expect(requests(bench) == 1)
    }

    @Test func asksSixTimesAMinuteAndOneAfterAnother() throws {
        let names = (1...9).map { "c\($0)" }
        let bench = try settled(names)
        bench.held = [.verification(try Values.name("c1"))]
        bench.ask(.renew(.init()))
        #expect(requests(bench) == 1)
        bench.release(.verification(try Values.name("c1")))
        #expect(requests(bench) == 6)
        bench.pass(59)
        #expect(requests(bench) == 6)
        bench.pass(1)
        #expect(requests(bench) == 9)
        for name in names { #expect(try bench.view(name).verification?.verdict == .accepted) }
    }

    /// A client that is refused for ever takes nobody's turn.
    @Test func asksFirstAboutTheClientWithTheOldestVerdict() throws {
        let names = (1...40).map { "c\($0)" }
        let bench = try settled(names)
        for name in names.dropLast() { try refuse(bench, name) }
        bench.ask(.renew(.init()))
        bench.pass(3600)
        #expect(
            bench.entries.contains { if case .accepted(let name, _) = $0 { name.description == "c40" } else { false } }
        )
        for name in names.dropLast() { #expect(try bench.view(name).verification?.verdict == .refused) }
    }

    @Test func onceWaitsForTheVerdict() throws {
        let bench = try Bench(try configuration(), once: true)
        let old = try Values.issued(
            1, from: -70 * Values.day, to: 20 * Values.day, signer: Values.print("1"))
        try bench.place(old, in: "web.jwt")
        try refuse(bench)
        bench.go()
        #expect(!bench.lastStep.ended)
        bench.pass(61)
        #expect(bench.lastStep.ended)
        #expect(try bench.view(web).verification?.verdict == .refused)
    }
}
