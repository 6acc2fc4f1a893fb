import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A client without a private key that receives from the store.
struct StorePollingTests {
    private let bench: Bench
    private let signer: KeyDigest
    private let other: KeyDigest
    private let place = Values.place()
    private let web: ClientName

    init() throws {
        signer = try Values.print("1")
        other = try Values.print("2")
        web = try Values.name("web")
        bench = try Bench(try Self.configuration())
    }

    private static func configuration(keys: [String] = ["apple"], place: String = "etcd") throws -> Configuration {
        var client = try Values.receiver(SourceConfiguration(.store))
        client.key = try Values.key(keys[0])
        client.otherKeys = try keys.dropFirst().map { try Values.key($0) }
        return try Values.configuration(
            ["web": client], keys: Values.publicKeys(keys), store: SecretStore(place: place, machine: "app17"))
    }

    private func secret(_ number: UInt64, issued: Int64 = 0, expires: Int64 = 90) throws -> SecretInfo {
        try Values.issued(number, from: issued * Values.day - 60, to: expires * Values.day, signer: signer)
    }

    /// Begins with this secret in force.
    @discardableResult private func begin() throws -> SecretInfo {
        let first = try secret(1)
        bench.store[place] = .secret(first, revision: 10)
        bench.go()
        #expect(try bench.current("web") == first)
        bench.forget()
        return first
    }

    private var reads: Int { bench.works.count { if case .readStore = $0 { true } else { false } } }
    private var source: SourceView? { get throws { try bench.view("web").source } }
    private var health: HealthState { get throws { try bench.view("web").health } }

    @Test func aReadThatDoesNotRespondIsReportedAfterHalfAMinuteAndGivenUp() throws {
        bench.held = [.store]
        bench.go()
        bench.pass(29)
        #expect(!bench.rotation.snapshot(at: bench.now).ready)
        bench.pass(2)
        #expect(bench.rotation.snapshot(at: bench.now).ready)
        #expect(try health == .critical)
        bench.release(.store)
        bench.store[place] = .secret(try secret(1), revision: 10)
        bench.tell(.changeNoticed(.store))
        bench.pass(2)
        #expect(try source?.state == .current)
        bench.held = [.store]
        bench.pass(60)
        bench.pass(31)
        #expect(try source?.state == .unreachable)
        bench.release(.store)
        #expect(try source?.state == .current)
    }

    @Test func itIsReadEachMinuteAndNotAtOneMomentByAll() throws {
        try begin()
        bench.pass(44)
        #expect(reads == 0)
        bench.pass(17)
        #expect(reads == 1)
        bench.pass(600)
        #expect((10...14).contains(reads))
    }

    @Test func aWatchBringsTheNextReadForwardAndThereAreFewOthers() throws {
        try begin()
        bench.tell(.storeWatched(true))
        bench.pass(440)
        #expect(reads == 0)
        let second = try secret(2, issued: 1, expires: 91)
        bench.step(Values.day)
        bench.forget()
        bench.store[place] = .secret(second, revision: 11)
        bench.tell(.changeNoticed(.store))
        bench.pass(1)
        #expect(reads == 1)
        #expect(try bench.held(in: "web.jwt") == second)
        // Nor is it read less often once nothing is watched any more.
        bench.tell(.storeWatched(false))
        bench.forget()
        bench.pass(60)
        #expect(reads == 1)
    }

    /// Who may write one key must not make every machine read without end.
    @Test func aPlaceThatKeepsChangingIsReadEachMinute() throws {
        let good = try begin()
        bench.tell(.storeWatched(true))
        for second in 0..<1200 {
            bench.store[place] = second % 2 == 0 ? .foreign("it is garbage", revision: 11) : .secret(good, revision: 12)
            bench.tell(.changeNoticed(.store))
            bench.pass(1)
        }
        #expect((20...40).contains(reads))
        bench.store[place] = .foreign("it is garbage", revision: 13)
        bench.pass(3700)
        #expect(try source?.state == .wrong)
    }

    private var nextRead: WallTime {
        get throws {
            try #require(
                bench.rotation.jobs.attempts[.store].map {
                    bench.rotation.upcoming($0.notBefore, bench.now) ?? bench.now.wall
                })
        }
    }

    /// A login that was refused so often that the next one is far away.
    private func beginRefused() throws {
        try begin()
        bench.failures[.store] = Failure(.storeCredentialsRefused, at: .store)
        bench.pass(60)
        while try nextRead < bench.now.wall + 1_000 { bench.pass(60) }
        bench.forget()
    }

    /// Once root has put another password there.
    @Test func aReloadAndTheEndOfTheServiceEndThePauseAfterARefusedLogin() throws {
        try beginRefused()
        bench.tell(.storeServiceEnded)
        #expect(reads == 1)
        // One that ends after each answer is not asked without a pause.
        bench.tell(.storeServiceEnded)
        #expect(reads == 1)
        bench.pass(60)
        #expect(reads == 2)
        bench.pass(600)
        #expect(reads == 2)
        bench.reload(try Self.configuration())
        #expect(reads == 3)
        let failure = Failure(.storeCredentialsRefused, at: .store)
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
    }

    /// What the store holds is known only once it is read.
    @Test func aReloadWaitsForTheStoreAndNamesAClientWithoutASecret() throws {
        bench.go()
        bench.held = [.store]
        bench.reload(try Self.configuration())
        #expect(bench.answer() == nil)
        bench.release(.store)
        let failure = try #require(try bench.view("web").reason?.failure)
        #expect(failure.code == .sourceMissing)
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
        bench.store[place] = .secret(try secret(1), revision: 10)
        bench.reload(try Self.configuration(), 2)
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    /// However often it has ended before: only those after which it was asked at once count.
    @Test(arguments: [1, 2, 10]) func aServiceThatEndsLaterIsAskedAtOnce(afterEnds count: Int) throws {
        try beginRefused()
        for _ in 0..<count { bench.tell(.storeServiceEnded) }
        #expect(reads == 1)
        bench.pass(65)
        bench.forget()
        bench.tell(.storeServiceEnded)
        #expect(reads == 1)
    }

    @Test func aServiceThatHasEndedKeepsNoRequestFromTheStore() throws {
        bench.failures[.store] = Failure(.storeUnreachable, at: .store, retryAfter: 3600)
        bench.go()
        #expect(try nextRead > bench.now.wall + 3000)
        bench.pass(10)
        bench.failures = [:]
        bench.store[place] = .secret(try secret(1), revision: 10)
        bench.tell(.storeServiceEnded)
        bench.pass(2)
        #expect(try source?.state == .current)
    }

    @Test func absenceAndFailureChangeNothing() throws {
        let first = try begin()
        bench.store = [:]
        bench.pass(60)
        #expect(try source?.state == .missing)
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        bench.pass(60)
        #expect(try source?.state == .unreachable)
        #expect(try bench.held(in: "web.jwt") == first)
        #expect(bench.effects == [])
        #expect(try health == .ok)
        // A day later it is said, and no longer once the store answers.
        bench.sleep(86_400)
        #expect(try health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == .storeUnreachable)
        bench.failures = [:]
        bench.store[place] = .secret(first, revision: 10)
        bench.pass(61)
        #expect(try health == .ok)
        #expect(try source?.state == .current)
    }

    /// Each code that asks for an operator, whatever the table of failures says of it.
    @Test(arguments: [
        Failure.Code.storeUnconfigured, .storeFileUnusable, .storeCredentialsRefused, .storeCertificateRefused,
        .storeServerUntrusted, .storeForbidden, .storeOutOfSpace, .storeSecretTooLong, .storeServiceMissing,
    ])
    func aRefusalIsReportedAtOnce(_ code: Failure.Code) throws {
        try begin()
        bench.failures[.store] = Failure(code, at: .store)
        bench.pass(61)
        #expect(try health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == code)
        // It goes on failing: what is shown as the next attempt never is past.
        for _ in 0..<20 {
            bench.pass(60)
            #expect(try bench.view("web").reason?.nextAttempt.map { $0 >= bench.now.wall } == true)
        }
    }

    @Test func aRefusalThatBecomesAnOutageIsNoneAnyMoreAndTheReverse() throws {
        try begin()
        // Longer than a refused password is left alone.
        for _ in 0..<2 {
            bench.failures[.store] = Failure(.storeUnreachable, at: .store)
            bench.pass(3700)
            #expect(try health == .ok)
            bench.failures[.store] = Failure(.storeCredentialsRefused, at: .store)
            bench.pass(3700)
            #expect(try bench.view("web").reason?.failure.code == .storeCredentialsRefused)
        }
    }

    /// A watch of a forbidden place is silent.
    @Test func aForbiddenPlaceIsReadEachMinuteAlthoughTheStoreIsWatched() throws {
        let first = try begin()
        bench.tell(.storeWatched(true))
        bench.store[place] = .forbidden
        bench.tell(.changeNoticed(.store))
        bench.pass(1)
        #expect(try bench.view("web").reason?.failure.code == .storeForbidden)
        #expect(try bench.held(in: "web.jwt") == first)
        bench.store[place] = .secret(first, revision: 10)
        bench.pass(61)
        #expect(try health == .ok)
    }

    @Test func aCertificateThatIsAboutToExpireIsReportedTwoWeeksBefore() throws {
        try begin()
        let start = bench.now.wall.secondsSinceEpoch
        bench.tell(.storeCertificate(expiresAt: WallTime(secondsSinceEpoch: start + 15 * Values.day)))
        bench.pass(Values.day - 60)
        #expect(try health == .ok)
        bench.pass(120)
        #expect(try health == .degraded)
        #expect(try bench.view("web").reason?.failure.code == .storeCertificateExpiring)
        bench.tell(.storeCertificate(expiresAt: WallTime(secondsSinceEpoch: start + 365 * Values.day)))
        bench.pass(1)
        #expect(try health == .ok)
        // A machine without a certificate has none that expires.
        bench.tell(.storeCertificate(expiresAt: nil))
        bench.pass(1)
        #expect(try health == .ok)
    }

    @Test func thePreferredKeysSecretWinsOverAnyOtherPlace() throws {
        let bench = try Bench(try Self.configuration(keys: ["apple", "former"]))
        bench.prints[try Values.key("former")] = other
        let old = Values.place(ofKey: "2")
        let former = try Values.issued(2, keyID: "XYZ123DEFG", from: -10, signer: other)
        bench.store[old] = .secret(former, revision: 4)
        bench.go()
        #expect(try bench.current("web") == former)
        #expect(try bench.view("web").source?.state == .current)
        let preferred = try secret(1)
        bench.store[place] = .secret(preferred, revision: 5)
        bench.pass(61)
        #expect(try bench.current("web") == preferred)
        #expect(try bench.view("web").source?.state == .current)
        // One request for both.
        #expect(bench.works.contains(.readStore([place, old])))
    }

    /// The last step of replacing a key: what the place of a removed key held is none of this client's secrets.
    @Test(arguments: [["apple"], ["former"]])
    func removingAKeyMakesNoSourceWrong(left: [String]) throws {
        let bench = try Bench(try Self.configuration(keys: ["apple", "former"]))
        bench.prints[try Values.key("former")] = other
        bench.store[place] = .secret(try secret(1), revision: 4)
        bench.store[Values.place(ofKey: "2")] = .secret(
            try Values.issued(2, keyID: "XYZ123DEFG", from: -10, signer: other), revision: 5)
        bench.go()
        bench.held = [.store]
        bench.reload(try Self.configuration(keys: left))
        #expect(try bench.view("web").source?.state != .wrong)
        bench.release(.store)
        #expect(try bench.view("web").source?.state == .current)
        #expect(try bench.view("web").health == .ok)
    }

    /// The key was replaced: until the store has answered, nobody knows whether it has a secret of the new one.
    @Test func aReplacedKeyIsNotMissedBeforeTheStoreWasRead() throws {
        try begin()
        bench.held = [.store]
        bench.prints[try Values.key("former")] = other
        bench.reload(try Self.configuration(keys: ["former"]))
        #expect(try bench.view("web").reason?.failure.code == .notChecked)
        #expect(bench.answer() == nil)
        bench.release(.store)
        let failure = try #require(try bench.view("web").reason?.failure)
        #expect(failure.code == .sourceMissing)
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
        #expect(try health == .degraded)
    }

    @Test func atTheStartTheStateDirectoryServesWhileTheStoreIsSilent() throws {
        let first = try begin()
        bench.held = [.store]
        try bench.restart(try Self.configuration())
        #expect(try bench.current("web") == first)
        #expect(bench.lastStep.wake.boot != nil)
        bench.release(.store)
        #expect(try source?.state == .current)
    }
}
