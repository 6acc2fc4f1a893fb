import AppleClientSecret
import Testing

@testable import Store

@Suite struct StoreValueTests {
    private func decoded(_ bytes: [UInt8]) -> String? {
        StoreValue.decode(bytes)?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func everyValueThatIsWrittenIsRead() throws {
        let bytes = try #require(StoreValue.encode(token(sampleToken())))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"v":1,"token":"\#(sampleToken())"}"#)
        #expect(decoded(bytes) == sampleToken())
    }

    @Test func aLaterVersionMayAddNames() {
        let bytes = Array(#"{"v":1,"token":"\#(sampleToken())","more":[1]}"#.utf8)
        #expect(decoded(bytes) == sampleToken())
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"v":1}"#, #"{"v":2,"token":"T"}"#, #"{"v":"1","token":"T"}"#, #"{"v":1,"token":7}"#,
        #"{"v":1,"token":"no token"}"#, #"{"v":1,"token":"T","token":"T"}"#, #"{"v":1,"token":"T"}}"#, "T",
    ])
    func otherTextsAreNoValue(text: String) {
        let bytes = Array(
            text.split(separator: "T", omittingEmptySubsequences: false).joined(separator: sampleToken()).utf8)
        #expect(decoded(bytes) == nil)
    }

    @Test func aLimit() {
        #expect(StoreValue.encode(token(sampleToken(String(repeating: "a", count: StoreEntry.longest)))) == nil)
    }
}
