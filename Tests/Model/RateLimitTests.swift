import AppleClientSecret
import Model
import Testing

struct RateLimitTests {
    private static func moment(_ milliseconds: Int64) -> BootTime { BootTime(milliseconds: milliseconds) }

    @Test func admitsSoManyInAnySpan() {
        var limit = RateLimit(2, in: 10)
        for moment in [0, 4_000] as [Int64] {
            #expect(limit.next(at: Self.moment(moment)) == nil)
            limit.note(at: Self.moment(moment))
        }
        #expect(limit.next(at: Self.moment(9_999)) == Self.moment(10_000))
        #expect(limit.next(at: Self.moment(10_000)) == nil)
        limit.note(at: Self.moment(10_000))
        #expect(limit.next(at: Self.moment(10_000)) == Self.moment(14_000))
        #expect(limit.next(at: Self.moment(14_000)) == nil)
    }

    /// What another rule let pass counts as well.
    @Test func countsWhatItDoesNotAdmit() {
        var limit = RateLimit(1, in: 10)
        limit.note(at: Self.moment(0))
        limit.note(at: Self.moment(5_000))
        #expect(limit.next(at: Self.moment(10_000)) == Self.moment(15_000))
        #expect(limit.isSpent(at: Self.moment(14_999)))
        #expect(!limit.isSpent(at: Self.moment(15_000)))
    }

    @Test func limitsEachKeyByItself() {
        var limit = KeyedRateLimit<String>(1, in: 10)
        #expect(limit.take(["a", "b"], at: Self.moment(0)) == nil)
        #expect(limit.take(["c"], at: Self.moment(4_000)) == nil)
        // The one that has to wait longest; nothing is recorded of the others.
        let refused = limit.take(["a", "c", "d"], at: Self.moment(4_001))
        #expect(refused?.key == "c" && refused?.wait == 10)
        #expect(limit.take(["d"], at: Self.moment(4_001)) == nil)
        #expect(limit.take(["a", "b"], at: Self.moment(10_000)) == nil)
    }
}
