import AppleClientSecret
import TestSupport
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10, and the characters in which the alphabets differ.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("~~~", "fn5+"), ("???", "Pz8/"), ("\0", "AA=="),
    ])
    func everyValueHasOneForm(plain: String, text: String) {
        let bytes = Array(plain.utf8)
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
        let url = text.utf8.filter { $0 != 61 }.map { $0 == 43 ? 45 : $0 == 47 ? 95 : $0 }
        #expect(Base64URL.encode(bytes) == url)
        #expect(Base64URL.decode(url) == bytes)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Zh==", "Zm8", "Zm9=", "Z", "Z===", "=", "==", "====", "Zm9v====", "Zg==Zg==", "Zm=v",
        "-w==", "_+8=", "fn5-", "Zm 9v", "Zm9v\n", " Zm9v", "Zm9v\0\0\0\0", "Zm9\u{E9}",
    ])
    func wrongPaddingIsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zh", "Zm9", "Z", "Zg==", "Zm+v", "Zm/v", "Zm v", "Zm9v\n", "Zm9vYmF"])
    func wrongBase64URLIsRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func everyEncodingIsDecoded() {
        var random = SeededGenerator()
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes, "seed \(random.seed)")
            #expect(Base64.decode(Base64.encode(bytes)) == bytes, "seed \(random.seed)")
            #expect(Base64URL.encode(bytes).count == Base64.length(ofBytes: count))
        }
    }
}
