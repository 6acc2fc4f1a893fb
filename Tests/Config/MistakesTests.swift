import Rotation
import Testing

@testable import Config

/// Every diagnostic, word for word.
@Suite struct MistakesTests {
    @Test(
        arguments: [
            MistakeCase.ofShape, MistakeCase.ofValues, MistakeCase.ofActions, MistakeCase.ofWhole, MistakeCase.ofYAML,
        ].flatMap(MistakeCase.read))
    func isToldInTheseWords(mistake: MistakeCase) {
        #expect(diagnose(mistake.text) == mistake.lines)
    }

    /// Nothing of what the table pastes into wrong places may come back.
    @Test func neverQuotesASecret() {
        let said = MistakeCase.read(MistakeCase.ofYAML).flatMap { diagnose($0.text) }.joined(separator: "\n")
        for secret in ["MIGT", "eyJ", "BEGIN", "Ab3-Cd4", "hunter"] { #expect(!said.contains(secret)) }
    }

    @Test(arguments: [
        ("com.example.web", #""com.example.web""#), ("12345E6789", #""12345E6789""#), ("", "an empty text"),
        ("AuthKey_ABC123DEFG.p8", #""AuthKey_ABC123DEFG.p8""#), ("a\u{1B}[31mb", "a text of 7 characters"),
        ("-----BEGIN PRIVATE KEY-----", "what looks like a pasted PEM file"),
        ("eyJhbGciOiJFUzI1NiJ9", "what looks like a pasted key or token"),
        ("MIGTAgEAMBMGByqGSM49A", "what looks like a pasted key or token"),
        ("Ab3-Cd4_Ef5-Gh6_Ij7-Kl8", "what looks like a pasted key or token"),
        ("a b c d e f g h i j k l m n o p q r s t u", "a text of 41 characters"),
        ("a-name-with-many-words-that-is-no-secret", #""a-name-with-many-words-that-is-no-secret""#),
    ])
    func quotesOnlyWhatIsShortAndPlain(text: String, shown: String) {
        #expect(quoted(text) == shown)
    }

    @Test(arguments: [
        ("lifetme", "lifetime"), ("renew-before", "renew_before"), ("LIFETIME", "lifetime"),
        ("renwe_before", "renew_before"),
        ("renew", "renew_before"), ("outputss", "outputs"), ("xyz", nil), ("", nil), ("lt", nil),
        (String(repeating: "a", count: 100_000), nil),
    ])
    func suggestsTheNearestName(text: String, suggestion: String?) {
        #expect(nearest(to: text, among: ["lifetime", "renew_before", "outputs", "key"]) == suggestion)
    }

    /// A file of nothing but mistakes does not make megabytes of messages.
    @Test func tellsSoManyMistakesAndNoMore() {
        let said = diagnose((0..<600).map { "unknown\($0): x\n" }.joined())
        #expect(said.count == 501)
        #expect(said.first?.hasPrefix(#"c.yaml:1:1: error: unknown key "unknown0"; "#) == true)
        #expect(said.last == "c.yaml:501:1: error: 102 more mistakes are not shown; fix these first")
    }

    @Test func namesOfFilesCannotDriveATerminal() {
        let position = Position(file: "c.d/\u{1B}[2J\n.yaml", line: 1, column: 2)
        #expect(position.description == "c.d/?[2J?.yaml:1:2")
    }
}
