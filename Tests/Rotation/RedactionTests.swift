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
        ("\u{1B}[31mred\u{07}\u{9B}", "?[31mred??"), ("a\tb\nc", "a\tb\nc"), ("", ""),
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
        #expect(filtered([secret, other]).joined().contains("sha256:"))
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
        #expect(filtered(["a \(secret.dropLast(30))another-signature_0 b"]) == ["a sha256:1 b"])
    }

    @Test func whatIsNoSecretStaysAsItIs() {
        let lines = ["reloaded nginx.service in 0.3 s", "", "\tDEF123GHIJ com.example.web", "naïve ✓"]
        #expect(filtered(lines) == lines)
        #expect(!SecretFilter(["short"]).isOfInterest)
    }
}
