import Testing

@testable import Config

/// Every diagnostic, word for word.
@Suite struct MistakesTests {
    @Test(
        arguments: [
            MistakeCase.ofShape, MistakeCase.ofValues, MistakeCase.ofActions, MistakeCase.ofWhole, MistakeCase.ofYAML,
        ].flatMap(MistakeCase.read))
    func isReportedInTheseWords(mistake: MistakeCase) {
        #expect(diagnose(mistake.text) == mistake.lines)
    }

    /// Nothing of what the table pastes into wrong places may come back.
    @Test func neverQuotesASecret() {
        let said = MistakeCase.read(MistakeCase.ofYAML).flatMap { diagnose($0.text) }.joined(separator: "\n")
        for secret in ["MIGT", "eyJ", "BEGIN", "Ab3-Cd4", "hunter"] { #expect(!said.contains(secret)) }
    }
}
