import AppleClientSecret
import TestSupport
import Testing

@testable import Model

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("45s", 45), ("30m", 1800), ("12h", 43_200), ("90d", 7_776_000), ("1d12h", 129_600), ("0s", 0),
        ("1d1h1m1s", 90_061), ("007s", 7), ("15776700s", 15_776_700), ("182d14h25m", 15_776_700),
    ])
    func isReadAsSeconds(text: String, seconds: Int64) {
        #expect(DurationText.parse(text) == Seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "90", "90 d", " 90d", "90d ", "d90", "12h1d", "1d1d", "1.5d", "-1d", "+1d", "1D", "1w", "max", "1d12",
        "99999999999999999999s", "9223372036854775807d", "106751991167301d", "9223372036854775807s1s", "९s", "1\u{0}d",
    ])
    func isNotADuration(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: [("max", 15_776_700), ("60s", 60), ("15776700s", 15_776_700)])
    func lifetimes(text: String, seconds: Int64) {
        #expect(DurationText.lifetime(text)?.seconds == Seconds(seconds))
    }

    @Test(arguments: ["59s", "15776701s", "Max", "MAX", "183d", ""])
    func noLifetimes(text: String) {
        #expect(DurationText.lifetime(text) == nil)
    }

    @Test func textReadsBackTheSame() {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let span = Seconds(Int64.random(in: 0...(.max >> Int64.random(in: 0...62, using: &random)), using: &random))
            #expect(DurationText.parse(DurationText.text(span)) == span, "seed \(random.seed)")
        }
        #expect(DurationText.text(-90) == "-1m30s")
        #expect(DurationText.text(Seconds(.min)) == "-106751991167300d15h30m8s")
    }
}
