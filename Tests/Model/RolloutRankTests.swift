import AppleClientSecret
import Foundation
import TestSupport
import Testing

@testable import Model

struct RolloutRankTests {
    /// FIPS 180-2, appendix B, and messages whose padding takes one block more.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        ),
    ])
    func theDigestIsTheStandards(message: String, digest: String) {
        let bytes = PureSHA256(Array(message.utf8)).bytes
        #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
    }

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
