import Testing

@testable import Actions

struct PolkitVersionTests {
    /// Ubuntu 22.04 has 0.105, which reads no rules in JavaScript.
    @Test(
        arguments: [
            ("pkaction version 0.105\n", "0.105"), ("pkaction version 0.96\n", "0.96"),
            ("pkaction version 0.106\n", nil),
            ("pkaction version 0.120\n", nil), ("pkaction version 122\n", nil), ("pkaction version 1.5\n", nil),
            ("pkaction version 0.105.1\n", nil), ("", nil), ("pkaction: not found\n", nil),
        ] as [(String, String?)]) func aVersionThatIgnoresRulesIsKnown(_ text: String, _ version: String?)
    {
        #expect(PolkitVersion.versionIgnoringRules(in: text) == version)
    }
}
