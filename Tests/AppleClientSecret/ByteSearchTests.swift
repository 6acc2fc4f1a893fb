import AppleClientSecret
import Testing

@Suite struct ByteSearchTests {
    @Test(
        arguments: [
            ("abc", "a", 0), ("abc", "bc", 1), ("abc", "abc", 0), ("aabaabab", "abab", 4), ("abc", "abcd", nil),
            ("abc", "cb", nil), ("", "a", nil), ("abc", "", 0), ("", "", 0),
        ] as [(String, String, Int?)])
    func findsWhereAPartFirstBegins(whole: String, part: String, offset: Int?) {
        #expect(Array(whole.utf8).firstOffset(of: Array(part.utf8)) == offset)
    }
}
