import Testing

@testable import Config

@Suite struct QuotingTests {
    @Test(arguments: [
        ("com.example.web", #""com.example.web""#), ("12345E6789", #""12345E6789""#), ("", "an empty text"),
        ("https://ann:hunter2@a.example", "an address with user information"),
        ("AuthKey_ABC123DEFG.p8", #""AuthKey_ABC123DEFG.p8""#), ("a\u{1B}[31mb", "a text of 7 characters"),
        ("-----BEGIN PRIVATE KEY-----", "what looks like a pasted PEM file"),
        ("eyJhbGciOiJFUzI1NiJ9", "what looks like a pasted key or token"),
        ("MIGTAgEAMBMGByqGSM49A", "what looks like a pasted key or token"),
        ("Ab3-Cd4_Ef5-Gh6_Ij7-Kl8", "what looks like a pasted key or token"),
        (
            "SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577", #""SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577""#
        ),
        ("SEARCHADS.MIGTAgEAMBMGByqGSM49A", "what looks like a pasted key or token"),
        ("a b c d e f g h i j k l m n o p q r s t u", "a text of 41 characters"),
        ("a-name-with-many-words-that-is-no-secret", #""a-name-with-many-words-that-is-no-secret""#),
    ])
    func quotesOnlyWhatIsShortAndPlain(text: String, shown: String) {
        #expect(quoted(text) == shown)
    }
}
