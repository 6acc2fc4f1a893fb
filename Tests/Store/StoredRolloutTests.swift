import AppleClientSecret
import Testing

@testable import Store

@Suite struct StoredRolloutTests {
    private func finding(_ text: String) -> RolloutFinding { StoredRollout.decode(Array(text.utf8), revision: 3) }

    @Test func whatIsWrittenIsRead() {
        for isHeld in [false, true] {
            for admitted in [0, 255, UInt64.max] {
                let rollout = StoredRollout(
                    secret: SecretName(Fingerprint(leadingBytes: 7)), admitted: admitted, isHeld: isHeld, tolerated: 2)
                #expect(StoredRollout.decode(rollout.jsonText.bytes, revision: 3) == .rollout(rollout, revision: 3))
            }
        }
    }

    @Test(arguments: [
        ("", ""), ("\"v\":1", "\"v\":2"), ("\"v\":1,", ""), ("\"v\":1", "\"v\":1,\"v\":1"), ("sha256:", ""),
        ("00000000000000ff", "ff"), ("00000000000000ff", "00000000000000FF"), ("00000000000000ff", "-0000000000000ff"),
        ("\"00000000000000ff\"", "255"), ("going", "gone"), ("\"tolerated\":0", "\"tolerated\":-1"),
        ("\"tolerated\":0", "\"tolerated\":\"0\""), ("}", ""),
    ])
    func anythingElseAdmitsNobody(part: String, other: String) {
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","tolerated":0}"#
        #expect(finding(part.isEmpty ? "" : text.replacing(part, with: other)) == .flawed(revision: 3))
    }

    @Test func whatIsTooLongIsNotLookedAt() {
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","x":"\#(String(repeating: "y", count: 16_384))"}"#
        #expect(finding(text) == .flawed(revision: 3))
    }
}
