import AppleClientSecret
import Testing

struct Base64Tests {
    @Test(arguments: [([], ""), ([0xFB], "+w=="), ([0xFF, 0xEF], "/+8="), (Array("abc".utf8), "YWJj")])
    func bothWays(bytes: [UInt8], text: String) {
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
    }

    @Test(arguments: ["YWJ", "YWJj=", "-w==", "_+8=", "Y===", "YW Jj", "YWJj\n", "YR=="])
    func nothingElse(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
