import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A machine with the private key, and the store.
struct StorePutsTests {
    private let bench: Bench
    private let signer: KeyDigest
    private let place = Values.place()
    private let web: ClientName

    init() throws {
        signer = try Values.print("1")
        web = try Values.name("web")
        bench = try Bench(try Self.configuration())
    }

    private static func configuration(
        verify: Bool = false, isShared: Bool = true, store: String = "etcd"
    ) throws -> Configuration {
        var client = try Values.client("web")
        client.verify = verify
        client.isShared = isShared
        return try Values.configuration(["web": client], store: SecretStore(place: store, machine: "signer"))
    }

    private var shared: SecretInfo? {
        if case .secret(let secret, _) = bench.store[place] { secret } else { nil }
    }

    /// Puts something there as somebody else would.
    private func write(_ secret: SecretInfo, revision: Int64) {
        bench.store[place] = .secret(secret, revision: revision)
    }

    /// Another signer's secret, issued some seconds from now.
    private func others(_ number: UInt64, after seconds: Int64 = 0, days: Int64 = 90) throws -> SecretInfo {
        let now = bench.now.wall.secondsSinceEpoch - Values.start
        return try Values.issued(number, from: now + seconds, to: now + seconds + days * Values.day, signer: signer)
    }

    /// Another signer's secret that differs from this one in what is signed only.
    private func others(of mine: SecretInfo, _ number: UInt64) throws -> SecretInfo {
        let digest = Fingerprint(leadingBytes: number)
        return SecretInfo(SecretName(digest, signed: digest), claims: mine.claims, signer: signer)
    }

    private var puts: [String] { bench.log.filter { $0.hasPrefix("share ") } }

    @Test func aMintedSecretIsKeptAndPutThereOnce() throws {
        bench.go()
        #expect(shared != nil)
        #expect(try shared == bench.current("web"))
        let put = try #require(bench.log.firstIndex(of: "share web"))
        #expect(try #require(bench.log.firstIndex(of: "keep web")) < put)
        bench.forget()
        bench.pass(3600)
        #expect(puts == [])
        #expect(try bench.view("web").health == .ok)
    }

    /// Where a put was under way while a reload named another store.
    @Test func theAnswerOfAnotherStoreSaysNothingOfThisOne() throws {
        bench.held = [.share(web)]
        bench.go()
        bench.reload(try Self.configuration(store: "another etcd"))
        bench.forget()
        // The former store has it; this one is still empty.
        try bench.end(.share(web), .success(.putInStore(.done(revision: 7))))
        #expect(puts == ["share web"])
        #expect(try shared == bench.current("web"))
    }

    @Test func aReloadWaitsForAPutAndNamesThatItIsForbidden() throws {
        bench.failures[.share(web)] = Failure(.storeForbidden, at: .store)
        bench.go()
        bench.failures = [:]
        bench.held = [.share(web)]
        bench.reload(try Self.configuration())
        #expect(bench.answer() == nil)
        let failure = Failure(.storeForbidden, at: .store)
        bench.fail(.share(web), failure)
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
        bench.reload(try Self.configuration(), 2)
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    @Test func thePauseBeforeAPutEndsWithTheService() throws {
        bench.failures[.share(web)] = Failure(.storeTimedOut, at: .store, retryAfter: 3600)
        bench.go()
        bench.failures = [:]
        bench.pass(600)
        #expect(shared == nil)
        bench.tell(.storeServiceEnded)
        #expect(try shared == bench.current("web"))
    }

    @Test func aCertificateThatIsAboutToExpireIsReportedIfASecretIsShared() throws {
        bench.go()
        let soon = bench.now.wall + Seconds(13 * Values.day)
        bench.tell(.storeCertificate(expiresAt: soon))
        bench.pass(1)
        #expect(try bench.view("web").reason?.failure.code == .storeCertificateExpiring)
        #expect(try bench.view("web").health == .degraded)
        let atHome = try Bench(try Self.configuration(isShared: false)).started()
        atHome.tell(.storeCertificate(expiresAt: soon))
        atHome.pass(1)
        #expect(try atHome.view("web").health == .ok)
    }

    @Test func aSecretThatStaysHomeIsNeitherPutThereNorAskedFor() throws {
        let bench = try Bench(try Self.configuration(isShared: false)).started()
        bench.pass(3600)
        #expect(bench.store == [:])
        #expect(!bench.log.contains("read store"))
    }

    @Test func aMissingSecretIsNotMintedBeforeTheStoreHasAnswered() throws {
        bench.held = [.store]
        bench.go()
        bench.pass(19)
        #expect(!bench.log.contains("mint web"))
        let theirs = try others(5, after: -30)
        write(theirs, revision: 3)
        bench.release(.store)
        #expect(try bench.current("web") == theirs)
        #expect(try bench.held(in: "web.jwt") == theirs)
        #expect(!bench.log.contains("mint web"))
        #expect(puts == [])
    }

    /// It is new in the configuration of the second of two signers.
    @Test func aSecretThatIsMissingAfterAReloadIsNotMintedBeforeTheStoreHasAnswered() throws {
        let other = try Values.issued(
            5, id: "com.example.api", from: -30, signer: signer)
        bench.go()
        bench.pass(3600)
        bench.store[
            StorePlace(team: place.team, client: try #require(ClientID("com.example.api")), key: signer)
        ] = .secret(other, revision: 3)
        var configuration = try Self.configuration()
        configuration.clients[try Values.name("api")] = try Values.client("api")
        bench.held = [.store]
        bench.forget()
        bench.reload(configuration)
        bench.pass(5)
        #expect(!bench.log.contains("mint api"))
        bench.release(.store)
        #expect(!bench.log.contains("mint api"))
        #expect(try bench.current("api") == other)
        #expect(try bench.held(in: "api.jwt") == other)
    }

    /// Its key was put in place long after the start.
    @Test func aSecretOfAKeyThatAppearsIsNotMintedBeforeTheStoreHasAnswered() throws {
        bench.prints = [:]
        bench.go()
        bench.pass(3600)
        let theirs = try others(5, after: -30)
        write(theirs, revision: 3)
        bench.prints = [try Values.key(): signer]
        bench.held = [.store]
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(5)
        #expect(!bench.log.contains("mint web"))
        bench.release(.store)
        #expect(!bench.log.contains("mint web"))
        #expect(try bench.current("web") == theirs)
    }

    @Test func aStoreThatIsAwayDelaysNothingForLong() throws {
        bench.held = [.store]
        bench.go()
        bench.pass(20)
        #expect(bench.log.contains("mint web"))
        #expect(try bench.held(in: "web.jwt") != nil)
        bench.held = []
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.fail(.store, Failure(.storeUnreachable, at: .store))
        bench.forget()
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        #expect(bench.answer() == .renewed([try bench.renewed("web")]))
        #expect(bench.log.contains("mint web"))
    }

    @Test func whereTheServiceIsNotThereNothingIsAwaited() throws {
        bench.failures[.store] = Failure(.storeServiceMissing, at: .store)
        bench.go()
        #expect(bench.log.contains("mint web"))
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == .storeServiceMissing)
    }

    @Test func anOlderDueOrForgedSecretIsReplaced() throws {
        bench.go()
        bench.pass(100)
        let mine = try #require(try bench.current("web"))
        let older = try Values.issued(8, from: -500, signer: signer)
        let due = try others(9, days: 20)
        let forged = try Values.issued(10, from: 50, signer: nil)
        // The last one says what the signer's secret says, and is worth nothing.
        for (round, found) in [older, due, forged, Values.altered(mine, 9_999, signer: nil)].enumerated() {
            write(found, revision: 600 + Int64(round))
            // So that each is put for the first time within its hour.
            bench.pass(3700)
            #expect(shared == mine)
            #expect(try bench.current("web") == mine)
        }
    }

    /// A secret is critical in the last ten of its ninety days: a newcomer with less left replaces none with more.
    @Test(arguments: [60, 3600, 9 * Values.day]) func aNewerSecretThatExpiresTooSoonIsReplaced(life: Int64) throws {
        bench.go()
        bench.pass(100)
        let mine = try #require(try bench.current("web"))
        let now = bench.now.wall.secondsSinceEpoch - Values.start
        write(try Values.issued(7, from: now, to: now + life, signer: signer), revision: 500)
        for _ in 1...12 {
            bench.pass(10)
            #expect(try bench.current("web") == mine)
        }
        #expect(shared == mine)
        #expect(bench.mintReasons == [.missing], "a renewal for it")
    }

    /// So does one that Apple has not accepted yet.
    @Test func aSecretThatIsTriedKeepsANewerOneAwayThatExpiresTooSoon() throws {
        bench.verdicts[web] = .failure(Failure(.verdictUnknown, at: .client(web)))
        bench.reload(try Self.configuration(verify: true))
        bench.go()
        bench.pass(Values.day)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        let mine = try #require(try bench.current("web"))
        let now = bench.now.wall.secondsSinceEpoch - Values.start
        write(try Values.issued(7, from: now, to: now + 3600, signer: signer), revision: 500)
        bench.pass(120)
        #expect(try bench.current("web") == mine)
        #expect(shared == mine)
    }

    /// The signer that minted it asked Apple.
    @Test func appleIsNotAskedAboutAnotherSignersSecret() throws {
        bench.reload(try Self.configuration(verify: true))
        bench.go()
        bench.pass(100)
        bench.forget()
        let theirs = try others(7)
        write(theirs, revision: 500)
        bench.pass(61)
        #expect(try bench.held(in: "web.jwt") == theirs)
        #expect(!bench.log.contains { $0.hasPrefix("verify") })
    }

    @Test func aConflictIsAdoptedOrPutAgainWithTheRevisionThatWasFound() throws {
        bench.go()
        bench.pass(100)
        bench.held = [.share(web)]
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        let mine = try #require(try bench.current("web"))
        // Somebody else puts an older one between.
        write(try Values.issued(8, from: -500, signer: signer), revision: 700)
        bench.release(.share(web))
        #expect(shared == mine)
        bench.held = [.share(web)]
        bench.pass(10)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 2)
        let newer = try others(11, after: 5)
        bench.pass(10)
        write(newer, revision: 800)
        bench.release(.share(web))
        #expect(try bench.current("web") == newer)
        #expect(shared == newer)
    }

    @Test func aSecretContestedInOneStoreIsPutIntoAnother() throws {
        bench.intruder = try Values.issued(8, from: -500, signer: signer)
        bench.go()
        bench.pass(500)
        #expect(puts.count == 3)
        bench.intruder = nil
        bench.store = [:]
        bench.forget()
        bench.reload(try Self.configuration(store: "another etcd"))
        #expect(puts.count == 1)
        #expect(try shared == bench.current("web"))
        #expect(try bench.view("web").health == .ok)
    }

    /// Its own secrets seem to be the newest there are.
    @Test func aMachineWhoseClockIsBehindReplacesNothing() throws {
        bench.isSynced = false
        let theirs = try others(7, after: 60 * Values.day)
        write(theirs, revision: 500)
        bench.go()
        bench.pass(100)
        #expect(shared == theirs)
        #expect(puts == [])
        #expect(bench.mintReasons == [])
    }

    @Test func ofOneSecondTheGreaterFingerprintWins() throws {
        bench.go()
        let mine = try #require(try bench.current("web"))
        let theirs = try others(of: mine, 9_999)
        write(theirs, revision: 500)
        bench.pass(61)
        #expect(try bench.current("web") == theirs)
        let smaller = try others(of: mine, 0)
        write(smaller, revision: 501)
        bench.pass(61)
        #expect(shared == theirs)
    }

    /// Anybody can alter an ECDSA signature so that it stays valid.
    @Test func anAlteredSignatureIsTheSameSecret() throws {
        bench.go()
        let mine = try #require(try bench.current("web"))
        bench.forget()
        for (round, number) in [UInt64(9_999), 1].enumerated() {
            write(Values.altered(mine, number, signer: signer), revision: 500 + Int64(round))
            bench.pass(61)
            #expect(try bench.current("web")?.fingerprint == mine.fingerprint)
        }
        #expect(puts == [])
        #expect(!bench.log.contains { $0.hasPrefix("run") || $0.hasPrefix("publish") || $0.hasPrefix("keep") })
        #expect(try bench.view("web").health == .ok)
    }

    @Test func aPlaceThatKeepsBeingChangedIsRepairedEveryTenMinutes() throws {
        bench.go()
        let foreign = try Values.issued(10, from: -5, signer: nil)
        for round in 0..<10 {
            write(foreign, revision: 900 + Int64(round))
            bench.pass(61)
        }
        #expect(puts.count == 3)
        #expect(try bench.view("web").health == .degraded)
        let reason = try #require(try bench.view("web").reason)
        #expect(reason.failure.code == .contested)
        let next = try #require(reason.nextAttempt)
        bench.pass((next - bench.now.wall).count - 1)
        #expect(puts.count == 3)
        bench.pass(1)
        #expect(puts.count == 4)
        #expect(try bench.view("web").health == .ok)
    }

    /// The user may have stopped the program that changed it.
    @Test func aRequestHasAContestedPlaceRepairedAtOnce() throws {
        bench.go()
        let foreign = try Values.issued(10, from: -5, signer: nil)
        for round in 0..<3 {
            write(foreign, revision: 900 + Int64(round))
            bench.pass(61)
        }
        #expect(shared == foreign)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web], deliverOnly: true)))
        #expect(try shared == bench.current("web"))
        // One request is for one repair.
        write(foreign, revision: 950)
        bench.pass(61)
        #expect(shared == foreign)
    }

    @Test func aSecretThatAppleHasNotAnsweredForIsNotHandedOn() throws {
        let bench = try Bench(try Self.configuration(verify: true))
        bench.held = [.verification(web)]
        bench.go()
        #expect(bench.log.contains("publish web.jwt"))
        #expect(bench.store == [:])
        bench.release(.verification(web))
        #expect(bench.store[place] != nil)
        // Nor what it refuses.
        bench.verdicts[web] = .failure(Failure(.refusedByApple, at: .client(web), detail: "invalid_client"))
        let first = bench.store[place]
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        bench.pass(300)
        #expect(bench.store[place] == first)
    }

    @Test(arguments: [false, true])
    func aSignerSaysSoOnceTheStoreIsAwayForAQuarterOfAnHour(isClockSet: Bool) throws {
        bench.go()
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.pass(120)
        if isClockSet { bench.step(Values.day) }
        bench.pass(760)
        #expect(try bench.view("web").health == .ok)
        bench.pass(90)
        #expect(try bench.view("web").health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == .storeUnreachable)
        bench.failures = [:]
        bench.pass(61)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func aPutThatFailedIsLookedAtAgain() throws {
        bench.failures[.share(web)] = Failure(.storeTimedOut, at: .store)
        bench.go()
        let mine = try #require(try bench.current("web"))
        #expect(shared == nil)
        // It had been carried out all the same.
        write(mine, revision: 77)
        bench.failures = [:]
        bench.pass(61)
        #expect(bench.store[place] == .secret(mine, revision: 77))
        #expect(try bench.view("web").health == .ok)
    }
}
