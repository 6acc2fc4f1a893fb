import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Which secrets' bytes the daemon may not forget.
@Suite struct SecretsInUseTests {
    private let web = "web"

    /// A daemon with one client that has published its secret, and that secret.
    private func settled(actions: [Action] = [], verify: Bool = false) throws -> (Bench, SecretInfo) {
        var client = try Values.client(web, actions: actions)
        client.verify = verify
        let bench = try Bench([web: client]).started()
        #expect(bench.rotation.fingerprintsInUse.count == 1)
        return (bench, try #require(try bench.current(web)))
    }

    private func isInUse(_ secret: SecretInfo, _ bench: Bench) -> Bool {
        #expect(bench.rotation.isIdle)
        return bench.rotation.fingerprintsInUse.contains(secret.fingerprint)
    }

    @Test func aFilesSecretIsInUseUntilItIsReplaced() throws {
        let (bench, old) = try settled()
        try bench.failWrites(of: "web.jwt")
        bench.ask(.renew(.init()))
        #expect(isInUse(old, bench))
        bench.failingWrites = [:]
        bench.pass(120)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(!isInUse(old, bench))
    }

    @Test func anApplicationsSecretIsInUseUntilItIsNotifiedOfAnother() throws {
        let action = Values.exec("/bin/deploy")
        let (bench, old) = try settled(actions: [action])
        bench.failures = [.action(action.id): Failure(.actionFailed, at: .action(action.id))]
        bench.ask(.renew(.init()))
        #expect(isInUse(old, bench))
        bench.failures = [:]
        bench.pass(3600)
        #expect(!isInUse(old, bench))
    }

    @Test func aSecretThatWaitsForAppleIsInUseNextToTheCurrentOne() throws {
        let (bench, old) = try settled(verify: true)
        let name = try Values.name(web)
        bench.verdicts[name] = .failure(Failure(.verdictUnknown, at: .client(name)))
        bench.ask(.renew(.init()))
        let client = try #require(bench.rotation.index[name])
        let candidate = try #require(bench.rotation.clients[client].verification?.candidate)
        #expect(isInUse(candidate, bench))
        #expect(isInUse(old, bench))
    }

    /// It would fail for want of the bytes, whenever its disk responds.
    @Test func theSecretOfAJobThatDoesNotEndIsInUse() throws {
        let (bench, _) = try settled()
        bench.held = [.file(try Values.path("web.jwt"))]
        bench.ask(.renew(.init()))
        let carried = try #require(try bench.current(web))
        bench.pass(120)
        bench.ask(.renew(.init()), 2)
        #expect(try bench.current(web) != carried)
        #expect(!bench.rotation.isIdle)
        #expect(bench.rotation.fingerprintsInUse.contains(carried.fingerprint))
    }
}
