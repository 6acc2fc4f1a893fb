import AppleClientSecret
import Model
import Store
import Testing

@Suite struct RolloutDocumentTests {
    @Test func everyRolloutThatIsWrittenIsRead() throws {
        for state in [Rollout.State.going, .held] {
            for admitted in [0, 255, UInt64.max] {
                let rollout = Rollout(
                    of: SecretName(Fingerprint(leadingBytes: 7)), admitted: admitted, state: state, tolerated: 2)
                #expect(try Rollout(parsing: rollout.jsonText.bytes) == rollout)
            }
        }
    }

    @Test(arguments: [
        ("", ""), ("\"v\":1", "\"v\":2"), ("\"v\":1,", ""), ("\"v\":1", "\"v\":1,\"v\":1"), ("sha256:", ""),
        ("00000000000000ff", "ff"), ("00000000000000ff", "00000000000000FF"), ("00000000000000ff", "-0000000000000ff"),
        ("\"00000000000000ff\"", "255"), ("going", "gone"), ("\"tolerated\":0", "\"tolerated\":-1"),
        ("\"tolerated\":0", "\"tolerated\":\"0\""), ("}", ""),
    ])
    func anythingElseAdmitsNoMachine(part: String, other: String) {
        let text =
            #"{"v":1,"fingerprint":"sha256:0000000000000007","admitted":"00000000000000ff","state":"going","tolerated":0}"#
        let bytes = Array((part.isEmpty ? "" : text.replacing(part, with: other)).utf8)
        #expect((try? Rollout(parsing: bytes)) == nil)
    }
}
