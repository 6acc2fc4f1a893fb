import Testing

@testable import Config

/// Every diagnostic, word for word.
@Suite struct ConfigurationErrorsTests {
    @Test(
        arguments: [
            ErrorCase.ofShape, ErrorCase.ofValues, ErrorCase.ofSources, ErrorCase.ofActions, ErrorCase.ofWhole,
            ErrorCase.ofYAML,
        ].flatMap(ErrorCase.read))
    func isReportedInTheseWords(errorCase: ErrorCase) {
        #expect(diagnose(errorCase.text) == errorCase.lines)
    }

    /// Nothing of what the table pastes into wrong places may come back.
    @Test func neverQuotesASecret() {
        let said = ErrorCase.read(ErrorCase.ofYAML).flatMap { diagnose($0.text) }.joined(separator: "\n")
        for secret in ["MIGT", "eyJ", "BEGIN", "Ab3-Cd4", "hunter"] { #expect(!said.contains(secret)) }
    }
}
