import AppleClientSecret
import Testing

@Suite struct PercentCodingTests {
    /// RFC 3986, section 2: what is reserved (2.2), what is not (2.3), `%` itself (2.4) and what is not ASCII (2.5).
    @Test(arguments: [
        ("", ""), ("AZaz09-._~", "AZaz09-._~"), (":/?#[]@", "%3A%2F%3F%23%5B%5D%40"),
        ("!$&'()*+,;=", "%21%24%26%27%28%29%2A%2B%2C%3B%3D"), ("100%", "100%25"), ("%25", "%2525"),
        ("a b\n", "a%20b%0A"),
        ("\0\u{7F}", "%00%7F"), ("À", "%C3%80"), ("ア", "%E3%82%A2"),
    ])
    func everythingButTheUnreservedIsEncoded(text: String, encoded: String) {
        #expect(PercentCoding.encode(text) == encoded)
        #expect(PercentCoding.decode(encoded.utf8) == text)
    }

    @Test func charactersToKeepStayAsTheyAre() {
        #expect(PercentCoding.encode("a/b~c", keeping: { $0 == UInt8(ascii: "/") }) == "%61/%62%7E%63")
    }

    /// 2.1: "The uppercase hexadecimal digits 'A' through 'F' are equivalent to the lowercase digits". Nothing else has a
    /// meaning here: a plus is one.
    @Test(arguments: [("%c3%80", "À"), ("%41", "A"), ("a+b", "a+b"), ("a b", "a b")])
    func encodingsOfOthersAreDecoded(encoded: String, text: String) {
        #expect(PercentCoding.decode(encoded.utf8) == text)
    }

    @Test(arguments: ["%", "%4", "a%", "%zz", "%4g", "%+1", "% 1", "%%41", "%ff", "%C3", "%C3%", "%C0%80"])
    func wrongEncodingsAreRefused(encoded: String) {
        #expect(PercentCoding.decode(encoded.utf8) == nil)
    }
}
