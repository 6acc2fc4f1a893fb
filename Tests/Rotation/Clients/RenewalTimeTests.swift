import AppleClientSecret
import Testing

@testable import Model
@testable import Rotation

/// When a secret is replaced: `min(exp, iat + 60 s + lifetime) - renew_before`, or up to a twentieth of `renew_before`
/// earlier, but never within a minute of its making.
@Suite struct RenewalTimeTests {
    private func renewal(
        lifetime: Int64, renewBefore: Int64, from: Int64 = -60, to: Int64, jitter: Double = 0
    ) throws -> Int64 {
        let entry = try Values.client("web", lifetime: lifetime, renewBefore: renewBefore)
        let issued = try Values.issued(1, from: from, to: to, signer: nil)
        return entry.renewal(of: issued, jitter: jitter).secondsSinceEpoch - Values.start
    }

    @Test func aSecretOfTheConfiguredLifetimeIsDueRenewBeforeItsExpiry() throws {
        #expect(try renewal(lifetime: 7_776_000, renewBefore: 2_592_000, to: 7_776_000) == 5_184_000)
    }

    @Test func aLifetimeMadeShorterCountsAtOnce() throws {
        // Minted for 90 days, but now only 30 are wanted.
        #expect(try renewal(lifetime: 2_592_000, renewBefore: 864_000, to: 7_776_000) == 1_728_000)
    }

    @Test func aLifetimeMadeLongerCountsFromTheNextRenewalOn() throws {
        #expect(try renewal(lifetime: 15_552_000, renewBefore: 864_000, to: 7_776_000) == 6_912_000)
    }

    @Test func theHostsJitterIsAtMostATwentiethOfRenewBeforeAndOnlyEarlier() throws {
        let whole = try renewal(lifetime: 7_776_000, renewBefore: 2_592_000, to: 7_776_000, jitter: 1)
        #expect(whole == 5_184_000 - 129_600)
        let half = try renewal(lifetime: 7_776_000, renewBefore: 2_592_000, to: 7_776_000, jitter: 0.5)
        #expect(half == 5_184_000 - 64_800)
    }

    @Test func noScheduleRenewsWithinAMinuteOfTheMinting() throws {
        #expect(try renewal(lifetime: 60, renewBefore: 59, to: 60) == 60)
        #expect(try renewal(lifetime: 3600, renewBefore: 3599, to: 3600, jitter: 1) == 60)
        #expect(try renewal(lifetime: 120, renewBefore: 60, to: 120) == 60)
        #expect(try renewal(lifetime: 121, renewBefore: 60, to: 121) == 61)
    }

    @Test func drawnAlongIsAMinuteAfterTheMintingToo() throws {
        let entry = try Values.client("web", lifetime: 1300, renewBefore: 1239)
        let issued = try Values.issued(1, to: 1300, signer: nil)
        #expect(entry.renewal(of: issued, jitter: 0) == Values.moment(61))
        #expect(entry.earliestRenewal(of: issued, jitter: 0) == Values.moment(60))
        let long = try Values.client("web")
        #expect(long.earliestRenewal(of: try Values.issued(1, signer: nil), jitter: 0) == Values.moment(5_054_400))
    }

    @Test func theHostsJitterMovesTheRenewalOfTheWholeHost() throws {
        let bench = try Bench(["web": Values.client("web")], renewalJitter: 0.25).started()
        #expect(try bench.view("web").renewAt == Values.moment(5_184_000 - 32_400))
    }

    @Test func nothingElseWakesAQuietDaemon() throws {
        let bench = try Bench(["web": Values.client("web")]).started()
        // First when it may join a batch, then when it is due itself.
        #expect(bench.lastStep.wake == Wake(wall: Values.moment(5_054_400), boot: nil))
        bench.forget()
        bench.pass(5_054_400)
        #expect(bench.lastStep.wake == Wake(wall: Values.moment(5_184_000), boot: nil))
        #expect(bench.log == [])
    }
}
