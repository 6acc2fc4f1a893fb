import AppleClientSecret
import Testing

@testable import clientsecretd

@Suite struct TimeWordsTests {
    private let now = WallTime(secondsSinceEpoch: 1_795_235_460)

    @Test(arguments: [
        (0, "0 seconds"), (1, "1 second"), (60, "1 minute"), (119, "119 seconds"), (120, "2 minutes"),
        (7199, "119 minutes"),
        (3_600, "1 hour"), (3_659, "1 hour"), (3_660, "61 minutes"), (86_400, "1 day"), (90_000, "25 hours"),
        (7200, "2 hours"), (172_799, "47 hours"), (172_800, "2 days"), (15_776_700, "182 days"), (-90, "90 seconds"),
        (.min, "106751991167300 days"),
    ])
    func spans(seconds: Int64, words: String) {
        #expect(TimeWords.span(Seconds(seconds)) == words)
    }

    @Test(arguments: [(0, "now"), (74, "in 74 seconds"), (-180, "3 minutes ago")])
    func moments(seconds: Int64, words: String) {
        #expect(TimeWords.relative(now + Seconds(seconds), to: now) == words)
    }

    @Test func anExpiryIsPastOrToCome() {
        #expect(TimeWords.expiry(now + 74, to: now) == "expires in 74 seconds (\(now + 74))")
        #expect(TimeWords.expiry(now + Seconds(-3_600), to: now) == "expired 1 hour ago (\(now + Seconds(-3_600)))")
    }

    /// It was read from a clock that was wrong, or is another machine's.
    @Test func aPastTimeIsNeverShownAsFuture() {
        let future = now + Seconds(15_699 * 86_400)
        #expect(TimeWords.past(future, to: now) == "by a clock that is ahead")
        #expect(TimeWords.past(now + 61, to: now) == "by a clock that is ahead")
        #expect(TimeWords.past(now + 60, to: now) == "now")
        #expect(TimeWords.past(now + Seconds(-180), to: now) == "3 minutes ago")
        #expect(
            TimeWords.annotated("no; since \(future); next attempt \(now + 74)", now: now)
                == "no; since \(future) (by a clock that is ahead); next attempt \(now + 74) (in 74 seconds)")
    }

    @Test func momentsInASentenceAreGivenInWordsToo() {
        let sentence = "cannot write; since 2026-11-21T04:28:00Z; next attempt 2026-11-21T04:31:27Z; do this"
        let told =
            "cannot write; since 2026-11-21T04:28:00Z (3 minutes ago); "
            + "next attempt 2026-11-21T04:31:27Z (in 27 seconds); do this"
        #expect(TimeWords.annotated(sentence, now: now) == told)
        #expect(TimeWords.annotated("2026-13-41T04:28:00Z  stays", now: now) == "2026-13-41T04:28:00Z  stays")
    }
}
