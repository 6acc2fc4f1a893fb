import AppleClientSecret
import Testing

@Suite struct WallTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (1_795_235_460, "2026-11-21T04:31:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        (-62_167_219_200, "0000-01-01T00:00:00Z"), (253_402_300_800, "@253402300800"),
        (Int64.max, "@9223372036854775807"),
        (Int64.min, "@-9223372036854775808"),
    ])
    func writtenAsRFC3339(seconds: Int64, text: String) {
        #expect(WallTime(secondsSinceEpoch: seconds).description == text)
    }

    @Test(arguments: [(Int64(0), Int64(0)), (1, 1), (999, 1), (1_000, 1), (1_001, 2)])
    func millisecondsAreRoundedUpToSeconds(milliseconds: Int64, seconds: Int64) {
        #expect(Seconds(roundingUp: milliseconds) == Seconds(seconds))
    }

    @Test func sumsAreClampedNotTrapped() {
        #expect(WallTime(secondsSinceEpoch: .max) + 1 == WallTime(secondsSinceEpoch: .max))
        #expect(WallTime(secondsSinceEpoch: .min) - 1 == WallTime(secondsSinceEpoch: .min))
    }
}
