import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A client without a private key: what it receives, and what changes nothing.
struct ReceivedSecretsTests {
    private let bench: Bench
    private let signer: KeyDigest
    private let earlier: KeyDigest

    init() throws {
        signer = try Values.print("1")
        earlier = try Values.print("2")
        bench = try Bench(try Self.configuration())
    }

    /// A client `web` that receives its secrets, with an action.
    private static func configuration(
        keys: [String] = ["apple"], renewBefore: Int64? = nil, isMinting: Bool = false, verify: Bool = false
    ) throws -> Configuration {
        var client = try Values.receiver(
            SourceConfiguration(
                path: try Values.path("/in/web.jwt"), format: .raw, renewBefore: renewBefore.map { Seconds($0) }))
        client.verify = verify
        client.otherKeys = try keys.dropFirst().map { try Values.key($0) }
        if isMinting { client.source = nil }
        return try Values.configuration(["web": client], keys: isMinting ? nil : Values.publicKeys(keys))
    }

    private func offer(_ observation: SourceObservation) throws {
        bench.sources[try Values.name("web")] = observation
        bench.tell(.changeNoticed(.source(try Values.name("web"))))
        bench.pass(3)
    }

    private func offer(_ issued: SecretInfo) throws { try offer(.secret(issued)) }

    private var state: SourceView.State? {
        get throws { try bench.view("web").source?.state }
    }

    /// A secret of the client; times are days after the start.
    private func secret(_ number: UInt64, issued: Int64 = 0, expires: Int64 = 90) throws -> SecretInfo {
        try Values.issued(number, from: issued * Values.day - 60, to: expires * Values.day, signer: signer)
    }

    /// Begins with this secret in force.
    @discardableResult private func begin(with number: UInt64 = 1) throws -> SecretInfo {
        let first = try secret(number)
        bench.sources[try Values.name("web")] = .secret(first)
        bench.go()
        #expect(try bench.current("web") == first)
        bench.forget()
        return first
    }

    // MARK: Receiving

    @Test func theSourcesSecretIsKeptPublishedAndDelivered() throws {
        let first = try secret(1)
        bench.sources[try Values.name("web")] = .secret(first)
        bench.go()
        #expect(bench.log.suffix(4) == ["keep web", "publish web.jwt", "run exec /bin/tell for web", "keep web"])
        #expect(try bench.held(in: "web.jwt") == first)
        let view = try bench.view("web")
        #expect(view.health == .ok)
        #expect(view.delivered)
        #expect(view.source?.state == .current)
        #expect(view.counts.received == 1)
        #expect(view.renewals == 0)
    }

    @Test func ofOneMomentTheGreaterFingerprintIsReceived() throws {
        try begin(with: 5)
        try offer(try secret(4))
        #expect(try state == .stale)
        try offer(try secret(6))
        #expect(try bench.current("web")?.fingerprint == Fingerprint(leadingBytes: 6))
    }

    @Test func anAlteredSignatureIsNothingNew() throws {
        let first = try begin(with: 5)
        for number in [UInt64(4), 6] {
            try offer(Values.altered(first, number, signer: signer))
            #expect(try state == .current)
        }
        #expect(try bench.current("web")?.fingerprint == first.fingerprint)
        #expect(bench.log.allSatisfy { $0.hasPrefix("receive") }, "\(bench.log)")
    }

    /// A signer may have lost a later secret, or have had a clock that was ahead.
    @Test func anExpiredSecretYieldsToAnEarlierOneThatIsValid() throws {
        try begin(with: 5)
        let earlier = try secret(4, issued: -1, expires: 150)
        try offer(earlier)
        #expect(try state == .stale)
        bench.pass(91 * Values.day)
        #expect(try bench.held(in: "web.jwt") == earlier)
        #expect(try bench.view("web").health == .ok)
    }

    /// Apple refuses what was issued in the future, which a signer's clock made while it was ahead of ours, or with ours.
    @Test func aSecretOfTheFutureYieldsToOneThatIsValidNow() throws {
        bench.go()
        bench.step(4 * Values.day)
        try offer(try secret(5, issued: 3))
        #expect(try bench.view("web").health == .ok)
        bench.step(-4 * Values.day)
        #expect(try bench.view("web").health == .critical)
        let valid = try secret(6)
        try offer(valid)
        #expect(try bench.held(in: "web.jwt") == valid)
        #expect(try bench.view("web").health == .ok)
    }

    /// How soon is too soon follows from the longer life of both.
    @Test func aSecretForAnHourDoesNotReplaceOneForEightyDays() throws {
        let first = try begin()
        let now = bench.now.wall.secondsSinceEpoch - Values.start
        try offer(try Values.issued(2, from: now, to: now + 3600, signer: signer))
        #expect(try state == .stale)
        #expect(try bench.held(in: "web.jwt") == first)
        // Of a day less than ten, which are critical for ninety.
        try offer(try Values.issued(3, from: now, to: now + 11 * Values.day, signer: signer))
        #expect(try state == .current)
    }

    @Test func nothingIsEverMinted() throws {
        bench.go()
        try offer(.missing)
        bench.pass(400 * Values.day)
        #expect(!bench.log.contains("mint web"))
        #expect(try bench.view("web").health == .critical)
        #expect(bench.rotation.snapshot(at: bench.now).ready)
    }

    @Test func withoutAStateDirectoryTheOutputsCount() throws {
        let second = try secret(2, issued: 0)
        try begin()
        try offer(second)
        bench.records = [:]
        bench.sources[try Values.name("web")] = .secret(try secret(1))
        try bench.restart(try Self.configuration())
        #expect(try bench.current("web") == second)
        #expect(try state == .stale)
    }

    @Test func aClientThatMintedGoesOnWithWhatItHas() throws {
        bench.reload(try Self.configuration(isMinting: true))
        let minted = try #require(try bench.current("web"))
        bench.forget()
        bench.reload(try Self.configuration(), 2)
        #expect(try bench.current("web") == minted)
        #expect(!bench.log.contains("publish web.jwt"))
    }

    // MARK: A machine that is given or loses the private key

    /// Apple has not accepted the secret that was minted last, which is held back.
    private func beginWithCandidate(_ failure: Failure.Code) throws -> (kept: SecretInfo, candidate: SecretInfo) {
        bench.reload(try Self.configuration(isMinting: true, verify: true))
        let kept = try #require(try bench.current("web"))
        bench.verdicts[try Values.name("web")] = .failure(
            Failure(failure, at: .client(try Values.name("web")), detail: "invalid_client"))
        try bench.renew(number: 2)
        bench.pass(120)
        let candidate = try #require(bench.records[try Values.name("web")]?.candidate)
        #expect(candidate != kept)
        #expect(try bench.current("web") == kept)
        #expect(try bench.view("web").health == .degraded)
        bench.forget()
        return (kept, candidate)
    }

    @Test(arguments: [Failure.Code.refusedByApple, .verdictUnknown])
    func aSecretThatWaitsForAppleIsForgottenOnceTheKeyIsTakenAway(_ failure: Failure.Code) throws {
        let (kept, candidate) = try beginWithCandidate(failure)
        bench.reload(try Self.configuration(), 3)
        bench.pass(90 * Values.day / 4)
        #expect(try bench.current("web") == kept)
        #expect(try bench.view("web").health == .ok)
        #expect(try bench.view("web").verification == nil)
        #expect(bench.records[try Values.name("web")]?.candidate == nil)
        #expect(!bench.works.contains { if case .verify = $0 { true } else { false } })
        #expect(!bench.works.contains { if case .publish = $0 { true } else { false } })
        let received = try secret(2, issued: 1)
        try offer(received)
        #expect(try bench.held(in: "web.jwt") == received)
        #expect(received != candidate)
    }

    @Test func whereTheKeyIsGivenWhatWasReceivedIsServedUntilItIsDue() throws {
        let first = try begin()
        bench.reload(try Self.configuration(isMinting: true), 2)
        #expect(try bench.current("web") == first)
        #expect(try bench.view("web").source == nil)
        #expect(try bench.view("web").health == .ok)
        #expect(!bench.log.contains { $0 == "mint web" || $0.hasPrefix("publish") || $0.hasPrefix("run") })
        bench.forget()
        bench.sources[try Values.name("web")] = .secret(try secret(2, issued: 1))
        bench.tell(.changeNoticed(.source(try Values.name("web"))))
        bench.pass(59 * Values.day)
        #expect(!bench.log.contains { $0 == "mint web" || $0 == "receive web" })
        bench.pass(2 * Values.day)
        #expect(bench.log.contains("mint web"))
        #expect(!bench.log.contains("receive web"))
        #expect(try bench.current("web") != first)
    }

    @Test func aSecretMintedWhileTheKeyIsTakenAwayDoesNotCount() throws {
        bench.reload(try Self.configuration(isMinting: true))
        let kept = try #require(try bench.current("web"))
        bench.held = [.client(try Values.name("web"))]
        try bench.renew(number: 2)
        bench.reload(try Self.configuration(), 3)
        bench.release(.client(try Values.name("web")))
        #expect(try bench.current("web") == kept)
        #expect(try bench.held(in: "web.jwt") == kept)
        bench.reload(try Self.configuration(isMinting: true), 4)
        #expect(try bench.current("web") == kept)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func followingAndMintingByTurnsMintsNothingThatIsNotDue() throws {
        let first = try begin()
        for number in 2..<12 as Range<UInt64> {
            bench.reload(try Self.configuration(isMinting: number % 2 == 0), number)
            bench.pass(3600)
        }
        #expect(try bench.current("web") == first)
        #expect(!bench.log.contains("mint web"))
        #expect(!bench.log.contains { $0.hasPrefix("publish") })
    }

    // MARK: What changes nothing

    @Test func aSecretOfAnotherClientIsWrong() throws {
        let first = try begin()
        let wrong: [SourceObservation] = [
            .secret(try Values.issued(7, from: 100, signer: nil)),
            .secret(try Values.issued(7, from: 100, signer: try Values.print("9"))),
            .secret(try Values.issued(7, id: "com.example.other", from: 100, signer: signer)),
            .secret(try Values.issued(7, team: "ZZZ123GHIJ", from: 100, signer: signer)),
            .secret(try Values.issued(7, keyID: "XYZ123DEFG", from: 100, signer: signer)),
            .secret(try Values.issued(7, from: 3600, signer: signer)),
            .secret(try Values.issued(7, from: 1, to: 200 * Values.day, signer: signer)),
            .foreign("it is no client secret"),
        ]
        for observation in wrong {
            try offer(observation)
            #expect(try state == .wrong, "\(observation)")
            #expect(try bench.view("web").health == .degraded)
            #expect(try bench.view("web").reason?.failure.code == .sourceWrong)
            #expect(try bench.current("web") == first)
        }
        #expect(!bench.log.contains { $0.hasPrefix("publish") })
        try offer(first)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func anOlderExpiredOrShortLivedSecretIsStaleAndNoReason() throws {
        let first = try begin()
        bench.pass(Values.day)
        let stale = [
            try secret(7, issued: -1, expires: 170), try secret(7, issued: -80, expires: 0),
            try Values.issued(7, from: 100, to: Values.day + 20, signer: signer),
        ]
        for issued in stale {
            try offer(issued)
            #expect(try state == .stale)
            #expect(try bench.view("web").health == .ok)
            #expect(try bench.current("web") == first)
        }
        #expect(!bench.log.contains { $0.hasPrefix("publish") })
    }

    @Test func absenceSaysNothing() throws {
        let first = try begin()
        try offer(.missing)
        #expect(try state == .missing)
        #expect(try bench.view("web").health == .ok)
        bench.failures[.source(try Values.name("web"))] = try Values.failure(.sourceUnreadable, "/in/web.jwt")
        try offer(.missing)
        #expect(try state == .unreachable)
        #expect(try bench.view("web").health == .ok)
        #expect(try bench.held(in: "web.jwt") == first)
    }

    @Test func aSecretOfTheSourceIsReceivedOnceItIsValid() throws {
        try begin()
        let ahead = try Values.issued(2, from: 3600, signer: signer)
        try offer(ahead)
        #expect(try state == .wrong)
        bench.pass(3600)
        #expect(try bench.current("web") == ahead)
    }

    // MARK: Health

    @Test func itIsDegradedOnceARenewalIsOverdueAndThenByRemainingLife() throws {
        try begin()
        for observation in [SourceObservation.missing, .secret(try secret(1))] {
            try offer(observation)
            #expect(try bench.view("web").health == .ok)
        }
        bench.pass(60 * Values.day)
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == .sourceStale)
        try offer(.missing)
        #expect(try bench.view("web").reason?.failure.code == .sourceMissing)
        bench.pass(20 * Values.day)
        #expect(try bench.view("web").health == .critical)
        try offer(try secret(2, issued: 79, expires: 170))
        #expect(try bench.view("web").health == .ok)
    }

    @Test func theThresholdsFollowFromTheSecretsLifeUnlessConfigured() throws {
        try begin()
        #expect(try bench.view("web").renewAt == Values.moment(60 * Values.day))
        bench.reload(try Self.configuration(renewBefore: 10 * Values.day))
        #expect(try bench.view("web").renewAt == Values.moment(80 * Values.day))
    }

    @Test func aHungSourceIsUnreachable() throws {
        bench.held = [.source(try Values.name("web"))]
        bench.go()
        #expect(try bench.view("web").source?.state == .unreachable)
        bench.pass(31)
        #expect(try bench.view("web").reason?.failure.code == .notResponding)
        #expect(bench.rotation.snapshot(at: bench.now).ready)
        bench.sources[try Values.name("web")] = .secret(try secret(1))
        bench.release(.source(try Values.name("web")))
        #expect(try bench.view("web").health == .ok)
    }

    // MARK: Two keys

    private func beginWithTwoKeys() throws -> SecretInfo {
        bench.reload(try Self.configuration(keys: ["apple", "former"]))
        bench.prints[try Values.key("former")] = earlier
        bench.reload(try Self.configuration(keys: ["apple", "former"]), 2)
        let first = try ofFormerKey(1)
        try offer(first)
        #expect(try bench.current("web") == first)
        return first
    }

    private func ofFormerKey(_ number: UInt64, issued: Int64 = 0, expires: Int64 = 90) throws -> SecretInfo {
        try Values.issued(
            number, keyID: "XYZ123DEFG", from: issued * Values.day - 60, to: expires * Values.day, signer: earlier)
    }

    @Test func thePreferredKeysSecretWinsWheneverItWasIssued() throws {
        _ = try beginWithTwoKeys()
        // You revoke the former key at Apple once no machine shows it.
        #expect(try bench.view("web").keyID == KeyID("XYZ123DEFG"))
        bench.pass(Values.day)
        let preferred = try secret(2, issued: -30, expires: 60)
        try offer(preferred)
        #expect(try bench.current("web") == preferred)
        #expect(try bench.view("web").keyID == KeyID("ABC123DEFG"))
        try offer(try ofFormerKey(3, issued: 1, expires: 120))
        #expect(try bench.current("web") == preferred)
        #expect(try state == .stale)
    }

    @Test func thePreferredKeysSecretDoesNotWinWhileItIsCritical() throws {
        let first = try beginWithTwoKeys()
        bench.pass(Values.day)
        try offer(try secret(2, issued: -80, expires: 5))
        #expect(try bench.current("web") == first)
        #expect(try state == .stale)
        try offer(try secret(3, issued: -1, expires: 89))
        #expect(try bench.current("web")?.fingerprint == Fingerprint(leadingBytes: 3))
        bench.pass(82 * Values.day)
        let fallback = try ofFormerKey(4, issued: 80, expires: 170)
        try offer(fallback)
        #expect(try bench.current("web") == fallback)
    }

    /// The source is known to have nothing, and neither the outputs nor a command can change that.
    @Test func afterTheKeyWasReplacedTheSourceHasToOfferASecret() throws {
        let first = try begin()
        try offer(.missing)
        #expect(try bench.view("web").health == .ok)
        var client = try Values.receiver(
            SourceConfiguration(path: try Values.path("/in/web.jwt"), format: .raw))
        client.key = try Values.key("former")
        bench.prints[client.key] = earlier
        bench.reload(try Values.configuration(["web": client], keys: Values.publicKeys(["former"])), 2)
        let missing = Failure(.sourceMissing, at: .path(try Values.path("/in/web.jwt")))
        #expect(bench.answer(2) == .reloaded(unserved: ["client \"web\": \(missing.message)"]))
        let view = try bench.view("web")
        #expect(view.health == .degraded)
        #expect(view.reason?.failure == missing)
        // Until the next one is there, the outputs show which key must not be revoked at Apple.
        #expect(view.current == nil && view.renewAt == nil)
        #expect(view.keyID == first.keyID)
        #expect(try bench.held(in: "web.jwt") == first)
        let second = try ofFormerKey(2)
        try offer(second)
        #expect(try bench.view("web").health == .ok)
        #expect(try bench.view("web").current == second)
    }

    /// Apple refuses the secret in the outputs, and "renew" would only say again what the source lacks.
    @Test func afterTheClientIDWasChangedTheSourceIsTheReason() throws {
        try begin()
        try offer(.missing)
        let name = try Values.name("web")
        var configuration = try Self.configuration()
        configuration.clients[name]?.clientID = try #require(ClientID("com.example.other"))
        bench.reload(configuration, 2)
        let view = try bench.view("web")
        #expect(view.health == .critical)
        #expect(view.reason?.failure == Failure(.sourceMissing, at: .path(try Values.path("/in/web.jwt"))))
        #expect(view.current == nil)
        #expect(bench.rotation.needsSource(name))
    }

    // MARK: Requests

    @Test func renewReadsTheSourceAgainAndWaitsForWhatItHolds() throws {
        try begin()
        let second = try secret(2, issued: 0)
        bench.sources[try Values.name("web")] = .secret(second)
        bench.held = [.action(Values.exec("/bin/tell").id)]
        try bench.renew()
        #expect(bench.answer() == nil)
        bench.release(.action(Values.exec("/bin/tell").id))
        #expect(bench.answer() == .renewed([try bench.delivered("web")]))
        #expect(try bench.current("web") == second)
        #expect(bench.log.contains("receive web"))
    }

    @Test func renewFailsWhereTheSourceHoldsNothingAcceptable() throws {
        try begin()
        let place = Failure.Place.path(try Values.path("/in/web.jwt"))
        for (found, failure) in [
            (.missing, Failure(.sourceMissing, at: place)),
            (.foreign("it is no client secret"), Failure(.sourceWrong, at: place, detail: "it is no client secret")),
            (nil, Failure(.sourceUnreadable, at: place)),
        ] as [(SourceObservation?, Failure)] {
            bench.sources[try Values.name("web")] = found
            if found == nil { bench.failures[.source(try Values.name("web"))] = failure }
            try bench.renew()
            #expect(bench.answer() == .renewed([try bench.failed("web", failure)]))
        }
        #expect(!bench.log.contains("mint web"))
    }

    /// There is nothing to deliver, and nobody knows when there will be.
    @Test func aRequestToDeliverFailsWithoutASecret() throws {
        bench.sources[try Values.name("web")] = .missing
        bench.go()
        bench.ask(.renew(.init(deliverOnly: true)))
        let failure = Failure(.sourceMissing, at: .path(try Values.path("/in/web.jwt")))
        #expect(bench.answer() == .renewed([try bench.failed("web", failure)]))
        try offer(try secret(1))
        #expect(try bench.view("web").health == .ok)
        // The same holds for a secret of ids that are no longer configured.
        let name = try Values.name("web")
        var configuration = try Self.configuration()
        configuration.clients[name]?.clientID = try #require(ClientID("com.example.other"))
        bench.reload(configuration, 2)
        bench.ask(.renew(.init(deliverOnly: true)), 3)
        let wrong = try #require(bench.rotation.sourceFailures[name])
        #expect(wrong.code == .sourceWrong)
        #expect(bench.answer(3) == .renewed([try bench.failed("web", wrong)]))
    }

    /// Under the last good configuration nothing is received: the follower does not hold what its source has.
    @Test func renewFailsWhereTheSourcesSecretMayNotBeReceived() throws {
        let first = try begin()
        try bench.restart(try Self.configuration(), refused: ["c.yaml:1:1: error: wrong"])
        try bench.renew()
        #expect(bench.answer() == .renewed([try bench.delivered("web")]))
        try offer(try secret(2, issued: 1))
        bench.pass(2 * Values.day)
        bench.forget()
        try bench.renew()
        let refused = Failure(
            .configurationRefused, at: .named("/etc/clientsecretd/clientsecretd.yaml"),
            detail: "c.yaml:1:1: error: wrong")
        #expect(try bench.current("web") == first)
        #expect(bench.answer() == .renewed([try bench.failed("web", refused)]))
    }

    @Test func aReadThatBeganBeforeTheRequestDoesNotCount() throws {
        try begin()
        let name = try Values.name("web")
        bench.held = [.source(name)]
        bench.tell(.changeNoticed(.source(name)))
        bench.pass(2)
        try bench.renew()
        bench.release(.source(name))
        #expect(bench.log.filter { $0 == "receive web" }.count == 2)
        #expect(bench.answer() == .renewed([try bench.delivered("web")]))
    }

    /// A follower's clock is a little behind its signer's, as much as is allowed.
    @Test func aGreaterSecretIsReceivedByADistrustedClock() throws {
        try begin()
        bench.isSynced = false
        let next = try Values.issued(2, from: 45, to: 90 * Values.day, signer: signer)
        try offer(next)
        #expect(bench.rotation.clock.failure?.code == .clockDoubtful)
        #expect(try bench.current("web") == next)
        #expect(try state == .current)
    }

    /// By the wrong clock the current one has expired, so that any other would do.
    @Test(arguments: [100, 16 * 366] as [Int64]) func noLesserSecretIsReceivedByAClockThatMayBeAhead(days: Int64) throws
    {
        let first = try begin()
        bench.isSynced = false
        bench.step(days * Values.day)
        try offer(try secret(2, issued: -1, expires: days + 90))
        #expect(try bench.current("web") == first)
        #expect(try state != .current)
    }

    @Test func nothingIsReceivedByADistrustedClock() throws {
        let first = try begin()
        bench.isSynced = false
        bench.step(-30 * Values.day)
        try offer(try secret(2, issued: 0))
        #expect(try bench.current("web") == first)
        #expect(try bench.view("web").reason?.failure.code == .clockDoubtful)
        bench.isSynced = true
        bench.step(30 * Values.day)
        #expect(try bench.current("web")?.fingerprint == Fingerprint(leadingBytes: 2))
    }
}
