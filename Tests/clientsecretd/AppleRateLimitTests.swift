import Model
import Testing

@testable import clientsecretd

@Suite struct AppleRateLimitTests {
    @Test func sixInAMinuteAtMost() {
        var rateLimit = AppleRateLimit()
        #expect((0..<6).map { rateLimit.pause(atMillisecond: 1_000 + $0) } == [0, 0, 0, 0, 0, 0])
        #expect(rateLimit.pause(atMillisecond: 2_000) == 59_000)
        // That one counts as asked at the end of its pause.
        #expect(rateLimit.pause(atMillisecond: 61_000) == 1)
        #expect(rateLimit.pause(atMillisecond: 200_000) == 0)
    }

    /// In any minute, however they are spread.
    @Test func noMinuteHasMore() {
        var rateLimit = AppleRateLimit()
        var now: Int64 = 0
        var asked: [Int64] = []
        for step in 0..<500 {
            now += Int64(step * 7_919 % 13_000)
            now += rateLimit.pause(atMillisecond: now)
            asked.append(now)
        }
        for start in asked { #expect(asked.count { (start..<start + 60_000).contains($0) } <= 6) }
    }
}

extension AppleRateLimit {
    fileprivate mutating func pause(atMillisecond now: Int64) -> Int64 { pause(at: BootTime(milliseconds: now)) }
}
