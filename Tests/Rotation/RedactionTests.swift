import AppleClientSecret
import Rotation
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("done: web.example.com reloaded", "done: web.example.com reloaded"),
        ("TOKEN=" + String(repeating: "a", count: 86), "TOKEN=(86 characters)"),
        ("eyJh." + String(repeating: "Z", count: 40) + ".x", "eyJh.(40 characters).x"),
        (String(repeating: "b", count: 39), String(repeating: "b", count: 39)),
        ("-----BEGIN PRIVATE KEY-----\nMIGH", "(PEM)"), ("see -----BEGIN X", "see (PEM)"),
        ("\u{1B}[31mred\u{07}\u{9B}", #"\x1b[31mred\x07\u{9b}"#), ("a\tb\nc", "a\tb\nc"), ("", ""),
    ])
    func whatCouldBeASecretIsLeftOut(text: String, shown: String) {
        #expect(Redaction.plain(text) == shown)
    }

    /// Of a key that nobody knows here: RFC 5915 in PEM, some of whose base64 has slashes.
    private static let pem = [
        "-----BEGIN PRIVATE KEY-----", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg47+actcUxpawOqIB",
        "F/of+WVzlDYD/I+YNHn2+E+h/CihRANCAAQJE7x1eVV1o+O/oWgyAppCR9wZO28j",
        "mhEBa5Y/g+r5X/hDrauSQCtMwj1lmmGZUQrgsh9JH+LWeBC0vGkcYk5T", "-----END PRIVATE KEY-----",
    ]

    @Test func aKeyThatIsPrintedIsLeftOutToItsEnd() {
        #expect(Redaction.printed(["key: "] + Self.pem + ["done"]) == ["key: ", "(PEM)", "done"])
        #expect(Redaction.printed(Self.pem[...2] + ["reloaded it all"]) == ["(PEM)", "reloaded it all"])
        #expect(Redaction.printed([Self.pem.joined(separator: "\\n"), "done"]) == ["(PEM)", "done"])
        let body = Self.pem[1...3].joined()
        #expect(Redaction.printed(Array(Self.pem[1...3])) == ["(184 characters)"])
        #expect(Redaction.printed(["key: \(Self.pem[2])"]) == ["key: (64 characters)"])
        for width in [7, 10, 16, 32, 39] {
            let folded = stride(from: 0, to: body.count, by: width).map { body.dropFirst($0).prefix(width) }
            #expect(
                Redaction.printed(["a"] + folded.map { "  \"\($0)\" \\" } + ["b."]) == ["a", "(184 characters)", "b."])
        }
        let digits = "e3bf9a72d714c696b03aa20117fa1ff96573943603fc8f983479f6f84fa1fc28"
        #expect(Redaction.printed([digits.prefix(32), digits.suffix(32)].map(String.init)) == ["(64 characters)"])
    }

    /// The scalar of that key, as programs show bytes.
    @Test func aKeyThatIsPrintedByteByByteIsLeftOut() {
        // openssl pkey -text -noout, and the same in one line.
        let text = [
            "Private-Key: (256 bit)", "priv:", "    e3:bf:9a:72:d7:14:c6:96:b0:3a:a2:01:17:fa:1f:",
            "    f9:65:73:94:36:03:fc:8f:98:34:79:f6:f8:4f:a1:", "    fc:28", "pub:",
            "    04:09:13:bc:75:79:55:75:a3:ef:bf:a1:68:32:02:", "    9a:42", "ASN1 OID: prime256v1",
        ]
        let shown = ["Private-Key: (256 bit)", "priv:", "    (hex)", "pub:", "    (hex)", "ASN1 OID: prime256v1"]
        #expect(Redaction.printed(text) == shown)
        #expect(
            Redaction.printed(text.map { $0.uppercased() })[2...5] == [
                "    (hex)", "PUB:", "    (hex)", text[8].uppercased(),
            ])
        #expect(Redaction.printed([text.joined(separator: " ")]) == ["Private-Key: (256 bit) priv:     (hex)"])
        #expect(
            Redaction.printed(text[2...4].map { "key: " + $0 } + ["done"]) == Array(
                repeating: "key:     (hex)", count: 3) + ["done"])
        #expect(Redaction.printed(["priv:", " e3:bf", " 9a", " done"]) == ["priv:", " (hex)", " done"])
        let dumps = [
            // xxd
            [
                "00000000: e3bf 9a72 d714 c696 b03a a201 17fa 1ff9  ...r.....:......",
                "00000010: 6573 9436 03fc 8f98 3479 f6f8 4fa1 fc28  es.6....4y..O..(",
            ],
            // hexdump -C, and hexdump
            [
                "00000000  e3 bf 9a 72 d7 14 c6 96  b0 3a a2 01 17 fa 1f f9  |...r.....:......|",
                "00000010  65 73 94 36 03 fc 8f 98  34 79 f6 f8 4f a1 fc 28  |es.6....4y..O..(|",
            ],
            [
                "0000000 bfe3 729a 14d7 96c6 3ab0 01a2 fa17 f91f", "0000010 7365 3694 fc03 988f 7934 f8f6 a14f 28fc",
            ],
            // od -An -tx1, and od -An -tx4
            [
                " e3 bf 9a 72 d7 14 c6 96 b0 3a a2 01 17 fa 1f f9", " 65 73 94 36 03 fc 8f 98 34 79 f6 f8 4f a1 fc 28",
                " 12 34",
            ],
            [" 729abfe3 96c614d7 01a23ab0 f91ffa17", " 36947365 988ffc03 f8f67934 28fca14f"],
            // openssl asn1parse -dump
            [
                "      0000 - e3 bf 9a 72 d7 14 c6 96-b0 3a a2 01 17 fa 1f f9   ...r.....:......",
                "      0010 - 65 73 94 36 03 fc 8f 98-34 79 f6 f8 4f a1 fc 28   es.6....4y..O..(",
                "      0020 - 12 34                                             .4",
            ],
            // xxd -i
            [
                "  0xe3, 0xbf, 0x9a, 0x72, 0xd7, 0x14, 0xc6, 0x96, 0xb0, 0x3a, 0xa2, 0x01,",
                "  0x17, 0xfa, 0x1f, 0xf9, 0x65, 0x73, 0x94, 0x36, 0x03, 0xfc, 0x8f, 0x98,",
                "  0x34, 0x79, 0xf6, 0xf8, 0x4f, 0xa1, 0xfc, 0x28",
            ],
        ]
        for dump in dumps {
            let indentation = dump[0].prefix { $0 == " " }
            #expect(Redaction.printed(["a"] + dump + ["be done"]) == ["a", "\(indentation)(hex)", "be done"])
        }
    }

    @Test(arguments: [
        "it is 12:34:56", "12:34:56: restarted", "52:54:00:ab:cd:ef", "link 52:54:00:ab:cd:ef:", "2001:db8::a:b",
        "2001:0db8:0000:0000:ab00:0000:0000:0001", "50:06:0b:00:00:c2:62:00:",
        "SHA1 Fingerprint=E3:BF:9A:72:D7:14:C6:96:B0:3A:A2:01:17:FA:1F:F9:65:73:94:36",
        "    E3:BF:9A:72:D7:14:C6:96:B0:3A:A2:01:17:FA:1F:F9:65:73:94:36:03:FC:8F:98:34:79:F6:F8:4F:A1:FC:28",
        "      E3BF 9A72 D714 C696 B03A  A201 17FA 1FF9 6573 9436", "10 20 30 40 50 60 70 80 90 10 20 30",
        "0000 - 1", "e3bf9a72-d714-c696-b03a-a20117fa1ff9", "priv: none", "pages 00000000: 3 4 5 6", "73",
    ])
    func addressesTimesAndFingerprintsAreNoKey(line: String) {
        #expect(Redaction.printed([line, line]) == [line, line])
    }

    @Test func aKeyInTheFormOfAFingerprintIsToldByThatItIsKnown() {
        let key = (0..<32).map { 0xE3 &+ UInt8($0) &* 37 }
        let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        func shown(_ line: String) -> String {
            Redaction.withoutKeys([line]) { String(decoding: $0, as: UTF8.self).lowercased() == digits.joined() }[0]
        }
        for separator in [":", "-", " ", "."] {
            let text = digits.joined(separator: separator)
            for text in [text, text.uppercased(), "12\(separator)\(text)\(separator)34"] {
                #expect(shown("key=\(text), and more") == "key=(hex), and more")
                #expect(shown(text) == "(hex)")
            }
            for other in [String(text.dropFirst()), String(text.dropLast()), "ff" + text.dropFirst(2)] {
                #expect(shown("a \(other) b") == "a \(other) b")
            }
        }
        let mixed = digits.prefix(16).joined(separator: ":") + "-" + digits.suffix(16).joined(separator: ":")
        for line in ["", "1", "naïve ✓", "12:34:56", mixed, digits.dropLast().joined(separator: ":")] {
            #expect(shown(line) == line)
        }
    }

    @Test func whatIsPrintedOtherwiseStaysAsItIs() {
        let lines = [
            "Restarted", "app1", "app2", "", "app3", "/usr/local/lib/AuthKey_ABC123DEFG/of/the/first/team/2",
            "reading /etc/clientsecretd/keys/of/a/team/AuthKey_ABC123DEFG.p8", "0123456789abcdef", "fedcba9876543210",
            "aaaa",
            "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa", "done",
        ]
        #expect(Redaction.printed(lines) == lines)
    }
}

/// Known secrets in what a hook prints.
@Suite struct SecretFilterTests {
    private let secret = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0.c2lnbmF0dXJlLW9mLXNpeHR5LWZvdXItYnl0ZXM"
    private let other = "eyJhbGciOiJFUzI1NiJ9.b3RoZXIgY2xhaW1zIGhlcmU.YW5vdGhlci1zaWduYXR1cmUtYWx0b2dldGhlcg"

    private func filtered(_ lines: [String]) -> [String] {
        var filter = SecretFilter(lines)
        filter.cover(Array(secret.utf8), as: "sha256:1")
        filter.cover(Array(other.utf8), as: "sha256:2")
        return filter.filtered
    }

    private func folded(_ width: Int) -> [String] {
        stride(from: 0, to: secret.count, by: width).map { String(secret.dropFirst($0).prefix(width)) }
    }

    @Test func aWholeOneIsReplacedByItsName() {
        #expect(filtered(["TOKEN=\(secret)", "and '\(other)'"]) == ["TOKEN=sha256:1", "and 'sha256:2'"])
        #expect(filtered([secret, other]) == ["sha256:1", "sha256:2"])
        #expect(filtered([secret, secret]) == ["sha256:1", "sha256:1"])
    }

    @Test(arguments: [1, 3, 10, 16, 32, 39, 64, 76])
    func oneThatIsFoldedOverLinesLeavesNothing(width: Int) {
        let shown = filtered(["begin {"] + folded(width).map { "  \"\($0)\"" } + ["} end"]).joined(separator: "\n")
        #expect(shown.contains("sha256:1"))
        #expect(!folded(max(width, 4)).contains { $0.count >= 4 && shown.contains($0) }, "\(shown)")
    }

    @Test func aPieceOfSixteenCharactersIsReplacedAndAShorterOneIsNot() {
        let piece = String(secret.suffix(16))
        #expect(filtered(["a \(piece)!"]) == ["a sha256:1!"])
        #expect(filtered(["a \(piece.dropLast())!"]) == ["a \(piece.dropLast())!"])
    }

    @Test(arguments: ["", "T", "TO", "TOKEN="], [20, 32, 64, 76])
    func oneInBase64OrHexadecimalDigitsLeavesNothing(prefix: String, width: Int) {
        let base64 = String(decoding: Base64URL.encode(Array((prefix + secret + "\n").utf8)), as: UTF8.self)
        let digits = (prefix + secret).utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for text in [base64, digits, digits.uppercased()] {
            let lines = stride(from: 0, to: text.count, by: width).map { String(text.dropFirst($0).prefix(width)) }
            let shown = filtered(lines).joined()
            #expect(shown.contains("sha256:1"))
            // What stands before the secret, and what a byte behind it has changed.
            #expect(shown.utf8.count < 40, "\(shown)")
        }
    }

    /// Such as one that somebody has minted by hand: it has much in common with those that are known.
    @Test func whatStandsBesideAPieceIsLeftOutToo() {
        #expect(filtered(["a \(secret.dropLast(30))another-signature_0 b"]) == ["a (secret) b"])
        #expect(filtered([secret.dropLast(30) + "another-signature_0", other]) == ["(secret)", "sha256:2"])
    }

    /// Clients of one team that were renewed together: but for their names and signatures their secrets are the same, and
    /// they come from a dictionary, in any order.
    @Test(arguments: [0, 1, 2], [0, 1, 2])
    func oneThatHasMuchInCommonWithOthersHasItsOwnName(first: Int, last: Int) {
        let secrets = (0..<3).map { number in
            let claims =
                #"{"iss":"DEF123GHIJ","iat":1790000000,"aud":"https://appleid.apple.com","sub":"app\#(number)"}"#
            let signature = (0..<64).map { UInt8($0 * (number + 2) & 255) }
            let parts = [#"{"alg":"ES256","kid":"ABC123DEFG"}"#, claims].map { Array($0.utf8) } + [signature]
            return parts.map { String(decoding: Base64URL.encode($0), as: UTF8.self) }.joined(separator: ".")
        }
        func filtered(_ lines: [String]) -> [String] {
            var filter = SecretFilter(lines)
            let middle = [0, 1, 2].filter { $0 != first && $0 != last }
            for number in [first] + middle + (first == last ? [] : [last]) {
                filter.cover(Array(secrets[number].utf8), as: "sha256:\(number)")
            }
            return filter.filtered
        }
        let printed = (0..<3).map { "number \($0) is \(secrets[$0])" }
        #expect(filtered(printed) == ["number 0 is sha256:0", "number 1 is sha256:1", "number 2 is sha256:2"])
        #expect(filtered(secrets) == ["sha256:0", "sha256:1", "sha256:2"])
        #expect(filtered([secrets.joined(separator: ",")]) == ["sha256:0,sha256:1,sha256:2"])
        let signatures = secrets.map { String($0.suffix(86)) }
        #expect(filtered(signatures) == ["sha256:0", "sha256:1", "sha256:2"])
        // A header is everybody's.
        #expect(filtered(["a \(secrets[1].prefix(40))"]) == ["a (secret)"])
        #expect(
            filtered([secrets[1], String(secrets[2].prefix(40)), secrets[0]]) == ["sha256:1", "(secret)", "sha256:0"])
        for prefix in ["", "a", "ab"] {
            let text = Array((prefix + secrets[1] + "\n" + secrets[2]).utf8)
            let base64 = String(decoding: Base64URL.encode(text), as: UTF8.self)
            #expect(filtered(["is \(base64) here"]) == ["is sha256:1sha256:2 here"])
        }
    }

    @Test func whatIsNoSecretStaysAsItIs() {
        let lines = ["reloaded nginx.service in 0.3 s", "", "\tDEF123GHIJ com.example.web", "naïve ✓"]
        #expect(filtered(lines) == lines)
        #expect(!SecretFilter(["short"]).isOfInterest)
    }
}
