import TestSupport
import Testing

@testable import clientsecretd

@Suite struct NamedFileTests {
    /// A name may hold line breaks and what a terminal obeys.
    @Test func showsAFilesNameOnOneLine() throws {
        let name = "/none\nadvice: \u{1b}[2J"
        let failure = #expect(throws: CommandFailure.self) { try NamedFile.read(name, limit: 1) }
        #expect(failure?.message.contains { $0.isNewline || $0 == "\u{1b}" } == false)
        let asked = #expect(throws: CommandFailure.self) { try TokenArgument.read(name, asking: "Token") }
        #expect(asked?.message == failure?.message)
        #expect(
            throws: CommandFailure(
                .failed, "\(NamedFile.shown(name)): this is not a JSON object with \"id_token\"")
        ) {
            try TokenArgument.token(in: "{}", of: name, member: "id_token")
        }
        #expect(!NamedFile.shown(name).contains("\n"))
    }

    /// With the mark in front, the first name of a form would be another one.
    @Test(arguments: ["state=s&code=c", "{\"refresh_token\":\"r\"}", "token"])
    func aByteOrderMarkIsNoPartOfATextThatAUserSaved(text: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("\u{FEFF}\(text)\r\n", to: "saved")
        #expect(try TokenArgument.read(file, asking: "Token") == text)
    }
}
