import Testing

@testable import Store

@Suite struct StoreValueTests {
    @Test func whatIsWrittenIsRead() throws {
        let bytes = try #require(StoreValue.encode(token(sampleToken())))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"v":1,"token":"\#(sampleToken())"}"#)
        #expect(StoreValue.decode(bytes, revision: 7, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 7))
    }

    @Test func aLaterVersionMayAddNames() {
        let bytes = Array(#"{"v":1,"token":"\#(sampleToken())","more":[1]}"#.utf8)
        #expect(StoreValue.decode(bytes, revision: 1, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 1))
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"v":1}"#, #"{"v":2,"token":"T"}"#, #"{"v":"1","token":"T"}"#, #"{"v":1,"token":7}"#,
        #"{"v":1,"token":"no token"}"#, #"{"v":1,"token":"T","token":"T"}"#, #"{"v":1,"token":"T"}}"#, "T",
    ])
    func whatIsNoValue(text: String) {
        let bytes = Array(
            text.split(separator: "T", omittingEmptySubsequences: false).joined(separator: sampleToken()).utf8)
        #expect(StoreValue.decode(bytes, revision: 3, sha256: { _ in [] }) == .flawed(.notAValue, revision: 3))
    }

    @Test func aLimit() {
        let long = String(repeating: "a", count: StoreValue.longest)
        #expect(StoreValue.encode(token(sampleToken(long))) == nil)
        let length = #"{"v":1,"token":""}"#.utf8.count + sampleToken().utf8.count
        let padding = String(repeating: " ", count: StoreValue.longest - length)
        let bytes = Array(#"{"v":1,"token":"\#(sampleToken())"}\#(padding)"#.utf8)
        #expect(bytes.count == StoreValue.longest)
        #expect(StoreValue.decode(bytes, revision: 1, sha256: { _ in [] }) == .token(token(sampleToken()), revision: 1))
        #expect(StoreValue.decode(bytes + [0x20], revision: 1, sha256: { _ in [] }) == .flawed(.tooLong, revision: 1))
    }
}
