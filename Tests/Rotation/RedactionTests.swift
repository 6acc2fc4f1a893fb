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
