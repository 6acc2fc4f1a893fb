import AppleClientSecret
import Testing

@Suite struct HexTests {
    /// RFC 4648, section 10, has the texts in capitals.
    @Test(arguments: [
        ("", ""), ("f", "66"), ("fo", "666F"), ("foo", "666F6F"), ("foob", "666F6F62"), ("fooba", "666F6F6261"),
        ("foobar", "666F6F626172"), ("\0\u{7F}", "007F"),
    ])
    func bytesAreTwoDigitsEach(plain: String, digits: String) {
        #expect(Hex.encode(plain.utf8, capitals: true) == digits)
        #expect(Hex.encode(plain.utf8) == digits.lowercased())
    }

    @Test func aNumberHasAllDigitsOfItsType() {
        for number in [0, 1, 0xABC, UInt64.max] {
            #expect(Hex.encode(number).utf8.count == 16)
            #expect(Hex.decode(Hex.encode(number).utf8) == number)
        }
        #expect(Hex.encode(UInt8(10)) == "0a")
        #expect(Hex.decode("fFe0".utf8, capitals: true) == UInt16(0xFFE0))
    }

    @Test(arguments: ["", "a", "0aa", "0A", "0g", "/0", ":0", "@a", "`a", "+1", "0x", " 1", "\u{FF11}"])
    func otherTextsAreNoByte(text: String) {
        #expect(Hex.decode(text.utf8) == UInt8?.none)
        #expect(!Hex.isEncoded(text, digits: 2))
    }

    @Test func everyDigitCountsInEitherCase() {
        let digits = "0123456789abcdef"
        for byte in UInt8.min ... .max {
            let place = digits.utf8.map { $0 }.firstIndex(of: byte | (byte.isASCIICapital ? 0x20 : 0))
            #expect(Hex.value(of: byte).map(Int.init) == place)
        }
    }
}
