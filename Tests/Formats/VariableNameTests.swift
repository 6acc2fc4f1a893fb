import Testing

@testable import Formats

@Suite struct VariableNameTests {
    @Test(arguments: [
        ("A", true), ("_a1", true), ("1A", false), ("", false), ("A-B", false), ("Ä", false), ("A=", false),
    ])
    func variables(text: String, isValid: Bool) {
        #expect(VariableName.isValid(text) == isValid)
    }
}
