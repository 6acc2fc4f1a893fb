import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct FoundSecretTests {
    private func found(_ text: String, variable: String? = nil) throws(CommandFailure) -> String {
        String(decoding: try FoundSecret.token(in: Array(text.utf8), of: "f", variable: variable), as: UTF8.self)
    }

    @Test func withoutTheBlanksAroundIt() throws {
        #expect(try found(" a.b.c\r\n") == "a.b.c")
        #expect(try found("") == "")
    }

    @Test func inAJSONObject() throws {
        #expect(try found(#"{"client_id": "x", "client_secret": "a.b.c"}"#) == "a.b.c")
        #expect(throws: CommandFailure(.failed, "f: this is not a JSON object with a \"client_secret\"")) {
            try found(#"{"client_secret": 1}"#)
        }
    }

    @Test func inAVariable() throws {
        let file = "# x\nOTHER=1\nexport APPLE='a.b.c'\n"
        #expect(try found(file, variable: "APPLE") == "a.b.c")
        #expect(try found("A=1\nAPPLE='a.b.c' # expires in May\n", variable: "APPLE") == "a.b.c")
        #expect(try found("\u{FEFF}APPLE=a.b.c # expires in May\n", variable: "APPLE") == "a.b.c")
        #expect(throws: CommandFailure(.failed, "f: NONE is not set in it")) { try found(file, variable: "NONE") }
        #expect(throws: CommandFailure(.failed, "f: A is set to different values in it")) {
            try found("A=1\nA=2\n", variable: "A")
        }
    }

    /// `verify` and `doctor` name the same reason for an output as `inspect` for its file.
    @Test(
        arguments: [
            ("A=1.2.3\nA=4.5.6\n", "A is set to different values in it"), ("B=1\n", "A is not set in it"),
        ] as [(String, String)])
    func anOutputWithoutASecretHasTheReasonOfItsFile(text: String, reason: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(text, to: "f.env")
        let path = try #require(AbsolutePath(file))
        let output = Output(path: path, format: FileFormat(name: "env", isShared: true), slot: .variable("A"))
        let wanted = CommandFailure(.failed, "\(file): \(reason)")
        #expect(throws: wanted) { _ = try PublishedSecret.read(output) }
        #expect(throws: wanted) { _ = try FoundSecret(in: file, variable: "A") }
    }

    @Test func inTheOnlyVariableThatHoldsAToken() throws {
        func variable(_ text: String, named: String? = nil) throws(CommandFailure) -> String? {
            try FoundSecret.variable(named, in: Array(text.utf8), of: "f")
        }
        let apples = "e30.eyJhdWQiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.AA"
        #expect(try variable("A=1\nexport B=\"\(apples)\"\n") == "B")
        #expect(try variable("A=e30.e30.AA\n") == "A")
        // Its project's other tokens are not meant.
        #expect(try variable("ANON_KEY=e30.e30.AA\nB=\(apples)\n") == "B")
        #expect(try variable("A=\(apples)\nB=e30.e30.AA\n", named: "B") == "B")
        #expect(try variable("A=1\n") == nil)
        #expect(try variable(apples) == nil)
        for text in ["A=\(apples)\nB=\(apples)\nC=e30.e30.AA\n", "B=e30.e30.AA\nA=e30.e30.AA\n"] {
            #expect(
                throws: CommandFailure(.failed, "f: several variables hold a token; choose one with --variable: A, B")
            ) { try variable(text) }
        }
    }
}
