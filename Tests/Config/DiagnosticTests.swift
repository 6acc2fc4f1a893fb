import Testing

@testable import Config

@Suite struct DiagnosticTests {
    /// A file of nothing but errors does not make megabytes of messages.
    @Test func reportsSoManyErrorsAndNoMore() {
        let said = diagnose((0..<600).map { "unknown\($0): x\n" }.joined())
        #expect(said.count == 501)
        #expect(said.first?.hasPrefix(#"c.yaml:1:1: error: unknown key "unknown0"; "#) == true)
        #expect(said.last == "c.yaml:501:1: error: 102 more errors are not shown; fix these first")
    }

    @Test func namesOfFilesCannotDriveATerminal() {
        let position = Position(file: "c.d/\u{1B}[2J\n.yaml", line: 1, column: 2)
        #expect(position.description == #"c.d/\x1b[2J\n.yaml:1:2"#)
    }
}
