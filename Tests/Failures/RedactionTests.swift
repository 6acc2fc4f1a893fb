import AppleClientSecret
import Failures
import TestSupport
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("done: web.example.com reloaded", "done: web.example.com reloaded"),
        ("TOKEN=" + String(repeating: "a", count: 86), "TOKEN=(86 characters)"),
        ("eyJh." + String(repeating: "Z", count: 40) + ".x", "eyJh.(40 characters).x"),
        (String(repeating: "b", count: 39), String(repeating: "b", count: 39)),
        ("-----BEGIN PRIVATE KEY-----\nMIGH", "(PEM)"), ("see -----BEGIN X", "see (PEM)"),
        ("\u{1B}[31mred\u{07}\u{9B}", #"\x1b[31mred\x07\u{9b}"#), ("a\tb\nc", "a\tb\nc"), ("", ""),
        ("in 'socks9://me:word@proxy:1'", "in 'socks9://(credentials)@proxy:1'"),
        ("see https://example.com/@user", "see https://example.com/@user"),
    ])
    func possibleSecretsAreLeftOut(text: String, shown: String) {
        #expect(Redaction.plain(text) == shown)
    }

    /// A key that the filter does not know: RFC 5915 in PEM, some of whose base64 has slashes.
    private static let pem = [
        "-----BEGIN PRIVATE KEY-----", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg47+actcUxpawOqIB",
        "F/of+WVzlDYD/I+YNHn2+E+h/CihRANCAAQJE7x1eVV1o+O/oWgyAppCR9wZO28j",
        "mhEBa5Y/g+r5X/hDrauSQCtMwj1lmmGZUQrgsh9JH+LWeBC0vGkcYk5T", "-----END PRIVATE KEY-----",
    ]

    private func printed(_ lines: [String]) -> [String] { Redaction.printed(lineByLine: lines).compactMap(\.self) }

    @Test func aKeyThatIsPrintedIsLeftOutToItsEnd() {
        #expect(printed(["key: "] + Self.pem + ["done"]) == ["key: ", "(PEM)", "done"])
        #expect(printed(Self.pem[...2] + ["reloaded it all"]) == ["(PEM)", "reloaded it all"])
        #expect(printed([Self.pem.joined(separator: "\\n"), "done"]) == ["(PEM)", "done"])
        #expect(
            printed(Array(Self.pem[1...3])) == ["(64 characters)", "(64 characters)", "(56 characters)"])
        #expect(printed(["key: \(Self.pem[2])"]) == ["key: (64 characters)"])
    }

    /// What `cat cert.pem key.pem` prints if the first file does not end with a line break.
    @Test func aKeyRightBehindAnotherBlockIsLeftOutToItsEnd() {
        let key: [String] = Self.pem[1...2] + ["mhEBa5Y/g+r5X/hDrauSQCtM"] + Self.pem[4...]
        let join = "-----END CERTIFICATE-----" + Self.pem[0]
        #expect(printed(["-----BEGIN CERTIFICATE-----", Self.pem[1], join] + key + ["done"]) == ["(PEM)", "done"])
        #expect(printed([join] + key + ["done"]) == ["-----END CERTIFICATE-----(PEM)", "done"])
        let line = ["-----BEGIN CERTIFICATE-----", Self.pem[1], join].joined(separator: "\\n")
        #expect(printed([line] + key + ["done"]) == ["(PEM)", "done"])
    }

    @Test func anEncryptedKeyWithHeadersIsLeftOutToItsEnd() {
        let lines = [
            "-----BEGIN EC PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED",
            "DEK-Info: AES-128-CBC,E3BF9A72D714C696B03AA20117FA1FF9", "", Self.pem[1], "mhEBa5Y/g+r5X/hDrauSQCtM",
            "-----END EC PRIVATE KEY-----", "done",
        ]
        #expect(printed(lines) == ["(PEM)", "done"])
    }

    /// A P-256 key has 64 hexadecimal digits, and a piece of base64 mixes capitals with small letters.
    @Test(
        arguments: [
            ("e3bf9a72d714c696b03aa20117fa1ff965739436 and 03fc8f983479f6f84fa1fc28", nil),
            ("e3bf9a72d714c696b03aa20117fa1ff96573943603fc8f983479f6f84fa1fc28", "(64 characters)"),
            ("sha256:E3BF9A72D714C696B03AA20117FA1FF96573943603FC8F983479F6F84FA1FC28", "sha256:(64 characters)"),
            ("E3BF9A72D714C696B03AA20117FA1FF965739436", "(40 characters)"),
            ("AbCDeFGHijKLMNopQRSTuvWXYZabCDEFghIJKLmnOP", "(42 characters)"),
            ("abcdefghijabcdefghijabcdefghijabcdefghij1", "(41 characters)"),
        ] as [(String, String?)])
    func formsOfKeysAreNeitherDigestsNorNames(line: String, shown: String?) {
        #expect(printed([line]) == [shown ?? line])
        #expect(Redaction.plain(line).contains("characters)"))
    }

    @Test func ordinaryOutputStaysAsItIs() {
        let lines = [
            "Restarted", "app1", "app2", "", "app3", "/usr/local/lib/AuthKey_ABC123DEFG/of/the/first/team/2",
            "reading /etc/clientsecretd/keys/of/a/team/AuthKey_ABC123DEFG.p8", "0123456789abcdef", "it is 12:34:56",
            "SHA1 Fingerprint=E3:BF:9A:72:D7:14:C6:96:B0:3A:A2:01:17:FA:1F:F9:65:73:94:36",
            "HEAD is now at 8f14e45fceea167a5a36dedd4bea2543c1f0a9d7",
            "loading AbstractAnnotationConfigDispatcherServletInitializer",
            "web@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 is up to date",
            "started company-application-frontend-production-blue.service",
            "2001:0db8:0000:0000:ab00:0000:0000:0001", "e3bf9a72-d714-c696-b03a-a20117fa1ff9", "done",
        ]
        #expect(printed(lines) == lines)
    }
}

/// Known secrets in what a hook prints.
@Suite struct PrintedSecretsTests {
    private let secret =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    private let other =
        "eyJhbGciOiJFUzI1NiJ9.b3RoZXIgY2xhaW1zIGhlcmU."
        + "e4ZrhZdbFQ7630Tq51E6RQiJaae9bFNGJszIhtusEwzvO21rzH76Wer6yRn2Zb34VjIm3cVRl0iQctbf4uBY3w"

    private func filtered(_ lines: [String]) -> [String] {
        PrintedSecrets(lines).replaced(lengths: [secret.utf8.count, other.utf8.count]) { bytes in
            [secret: "sha256:1", other: "sha256:2"][String(decoding: bytes, as: UTF8.self)]
        }.compactMap(\.self)
    }

    private func folded(_ text: String, _ width: Int) -> [String] {
        stride(from: 0, to: text.count, by: width).map { String(text.dropFirst($0).prefix(width)) }
    }

    @Test func aWholeOneIsReplacedByItsName() {
        #expect(filtered(["TOKEN=\(secret)", "and '\(other)'"]) == ["TOKEN=sha256:1", "and 'sha256:2'"])
        #expect(filtered([secret, other]) == ["sha256:1", "sha256:2"])
        #expect(filtered([secret, secret]) == ["sha256:1", "sha256:1"])
        #expect(filtered([secret + other + secret]) == ["sha256:1sha256:2sha256:1"])
        #expect(filtered(["eyJ" + secret]) == ["eyJsha256:1"])
    }

    @Test(arguments: [1, 3, 10, 16, 32, 39, 64, 76])
    func oneThatIsFoldedOverLinesLeavesNothing(width: Int) {
        let pieces = folded(secret, width)
        let shown = filtered(["begin {"] + pieces.map { "  \"\($0)\"" } + ["} end"]).joined(separator: "\n")
        #expect(shown.contains("sha256:1"))
        #expect(!pieces.contains { $0.count >= 4 && shown.contains($0) }, "\(shown)")
    }

    @Test(arguments: ["", "T", "TO", "TOKEN="], [20, 32, 64, 76])
    func oneInBase64LeavesNothing(prefix: String, width: Int) {
        let base64 = String(decoding: Base64URL.encode(Array((prefix + secret + "\n").utf8)), as: UTF8.self)
        for before in ["", "a", "ab", "abc"] {
            let shown = filtered(["\(before)."] + folded(base64, width)).joined()
            #expect(shown.contains("sha256:1"))
            // All that may remain: the text before the secret, and base64 of the byte after it.
            #expect(shown.utf8.count < 40, "\(shown)")
        }
    }

    /// A secret that was minted by hand, in the same environment file.
    @Test(arguments: [10, 39, 400])
    func oneThatIsNotKnownLeavesNothing(width: Int) throws {
        let token = Claims.sample().sampleText
        #expect(filtered(folded(token + "x", width)).joined() == "(a secret)x")
        #expect(filtered(["it is '\(token)'"]) == ["it is '(a secret)'"])
    }

    /// A hook prints more than is kept, and what is kept ends in the middle of a folded secret.
    @Test(arguments: [10, 39])
    func oneThatIsCutLeavesNothing(width: Int) {
        for text in [secret, String(decoding: Base64URL.encode(Array(("T" + secret).utf8)), as: UTF8.self)] {
            for count in stride(from: 12, to: text.count, by: 7) {
                let pieces = folded(String(text.prefix(count)), width)
                let lengths: Set = [secret.utf8.count]
                let hidden = PrintedSecrets(["number 1: \(secret)"] + pieces)
                let shown = hidden.replaced(lengths: lengths, isCut: true) { bytes in
                    String(decoding: bytes, as: UTF8.self) == secret ? "sha256:1" : nil
                }.compactMap(\.self)
                #expect(shown[0] == "number 1: sha256:1")
                #expect(shown.dropFirst().joined().count < 30, "\(shown)")
            }
        }
    }

    /// Secrets of one team that were renewed together differ only in client names and signatures.
    @Test func amongOthersThatHaveMuchInCommonEachHasItsOwnName() {
        let printed = ["number 1 is \(secret)", "\(secret.dropLast(12))another", "number 2 is \(other)"]
        #expect(filtered(printed) == ["number 1 is sha256:1", printed[1], "number 2 is sha256:2"])
    }

    /// As much as is kept of a hook's output, which is not searched to its end for each beginning.
    @Test(arguments: ["eyJ", "eyJ.", String(repeating: "eyJ", count: 600) + ".a." + String(repeating: "a", count: 86)])
    func muchThatBeginsLikeSecretsIsFiltered(piece: String) {
        let text = String(repeating: piece, count: 65_536 / piece.utf8.count) + "\n" + secret
        let shown = filtered(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        #expect(shown.last?.hasSuffix("sha256:1") == true)
    }

    @Test func otherTextStaysAsItIs() {
        let lines = ["reloaded nginx.service in 0.3 s", "", "\tDEF123GHIJ com.example.web", "naïve ✓", "eyJ"]
        #expect(filtered(lines) == lines)
    }
}
