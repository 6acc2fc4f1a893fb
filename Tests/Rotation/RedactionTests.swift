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

    @Test func whatIsNoSecretStaysAsItIs() {
        let lines = ["reloaded nginx.service in 0.3 s", "", "\tDEF123GHIJ com.example.web", "naïve ✓"]
        #expect(filtered(lines) == lines)
        #expect(!SecretFilter(["short"]).isOfInterest)
    }
}
