import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Health where the daemon refuses an output: by what programs find there, and by what was last read where that is not known.
@Suite struct RefusedOutputHealthTests {
    private let web = "web"

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
