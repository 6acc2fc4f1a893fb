import AppleClientSecret
import Foundation
import TestSupport
import Testing

@testable import Model

struct RolloutRankTests {
    /// The guide's own command, whose first 16 digits the rank is.
    @Test func itIsWhatTheGuideSays() throws {
        let guide = try String(contentsOfFile: repository + "/docs/fleet-protocol.md", encoding: .utf8)
        let command = try #require(guide.firstMatch(of: /\n {4}(printf .* app17 (sha256:[0-9a-f]{16}) \| sha256sum)\n/))
        let printed = try run(["sh", "-c", String(command.output.1)]).output
        let rank = RolloutRank.of("app17", try #require(Fingerprint(String(command.output.2))))
        #expect(UInt64(printed.prefix(16), radix: 16) == rank)
    }

    @Test func aPartOfASpan() {
        #expect(RolloutRank.part(0, of: 600) == 0)
        #expect(RolloutRank.part(1 << 63, of: 600) == 300)
        #expect(RolloutRank.part(.max, of: 600) == 600)
    }
}
