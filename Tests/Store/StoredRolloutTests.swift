import AppleClientSecret
import Testing

@testable import Store

@Suite struct StoredRolloutTests {
    @Test func everyRolloutThatIsWrittenIsRead() throws {
        for isHeld in [false, true] {
            for admitted in [0, 255, UInt64.max] {
                let rollout = StoredRollout(
                    secret: SecretName(Fingerprint(leadingBytes: 7)), admitted: admitted, isHeld: isHeld, tolerated: 2)
                #expect(try StoredRollout(parsing: rollout.jsonText.bytes) == rollout)
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
        let bytes = Array((part.isEmpty ? "" : text.replacing(part, with: other)).utf8)
        #expect((try? StoredRollout(parsing: bytes)) == nil)
    }
}
