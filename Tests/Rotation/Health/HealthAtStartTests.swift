import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A client's health before it was tried since the start: evaluated from what is published, so that a start alone
/// raises no alarm.
@Suite struct HealthAtStartTests {
    private let web = "web"

    private func published(to: Int64 = 80 * Values.day, signer: Character? = "1") throws -> SecretInfo {
        try Values.issued(1, from: -10 * Values.day, to: to, signer: signer.map(Values.print))
    }

    /// A start that got as far as the held resource.
    private func started(_ entry: ClientConfiguration? = nil, holding held: Resource) throws -> Bench {
        let bench = try Bench([web: try entry ?? Values.client(web)])
        bench.held = [held]
        return bench
    }

    @Test func aPublishedSecretIsGoodAtEveryStepOfAStart() throws {
        let name = try Values.name(web)
        let actions = [Values.exec("/bin/after")]
        for held in [
            Resource.key(try Values.key()), .record(name), .file(try Values.path("web.jwt")),
            .file(try Values.path("other.jwt")),
        ] {
            let entry = try Values.client(
                web, outputs: [Values.raw("web.jwt"), Values.raw("other.jwt")], actions: actions)
            let bench = try started(entry, holding: held)
            bench.records[name] = Record(current: try published())
            for file in ["web.jwt", "other.jwt"] { try bench.place(published(), in: file) }
            bench.go()
            #expect(try bench.view(web).health == .ok, "\(held)")
            #expect(try bench.view(web).reason == nil)
            #expect(bench.rotation.snapshot(at: bench.now).health == .ok)
            #expect(!bench.rotation.snapshot(at: bench.now).ready)
        }
    }

    @Test func anOutputThatNobodyHasLookedAtIsNotGood() throws {
        let bench = try started(holding: .file(try Values.path("web.jwt")))
        try bench.place(published(), in: "web.jwt")
        bench.go()
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure.code == .notPublished)
    }

    @Test func aFaultOfThePublishedSecretIsReportedAtOnce() throws {
        for (secret, code) in [
            (try published(to: 0), Failure.Code.secretExpired), (try published(to: 5 * Values.day), .secretExpiring),
            (try published(signer: nil), .secretUnacceptable),
        ] {
            let bench = try started(holding: .client(try Values.name(web)))
            try bench.place(secret, in: "web.jwt")
            bench.go()
            #expect(try bench.view(web).health == .critical, "\(code)")
            #expect(try bench.view(web).reason?.failure.code == code)
        }
        let bench = try started(holding: .client(try Values.name(web)))
        try bench.place(published(signer: "2"), in: "web.jwt")
        bench.go()
        #expect(try bench.view(web).health == .degraded)
    }

    @Test func aMissingSecretIsOnItsWayForAsLongAsAJobMayTake() throws {
        let bench = try started(holding: .client(try Values.name(web))).started()
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure.code == .notPublished)
        bench.pass(Rotation.overdueAfter.count)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .notResponding)
    }

    @Test func anOutputThatAReloadAddsIsOnItsWay() throws {
        let bench = try started(holding: .file(try Values.path("new.jwt"))).started()
        #expect(try bench.view(web).health == .ok)
        let more = try Values.client(web, outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")])
        try bench.reload([web: more])
        #expect(try bench.view(web).health == .degraded)
        // Not read back yet, so not written either.
        bench.held = []
        let before = bench.rotation.observation(of: try Values.path("new.jwt"))
        #expect(before == nil)
        try bench.failWrites(of: "new.jwt")
        bench.release(.file(try Values.path("new.jwt")))
        // Tried and failed: now the output counts as missing.
        #expect(try bench.view(web).health == .critical)
    }

    @Test func aReloadHidesNoFailure() throws {
        let action = Values.exec("/bin/after")
        let entry = try Values.client(web, actions: [action])
        let bench = try Bench([web: entry])
        bench.failures = [.action(action.id): Failure(.actionFailed, at: .action(action.id))]
        bench.go()
        #expect(try bench.view(web).health == .degraded)
        bench.held = [.file(try Values.path("web.jwt"))]
        try bench.reload([web: entry])
        #expect(try bench.view(web).health == .degraded)
    }
}
