import Testing

@testable import Outputs

@Suite struct FileFormatTests {
    @Test func rawIsTheTokenAndNothingElse() throws {
        let secret = try Samples.secret()
        let bytes = FileFormat.raw(secret)
        #expect(bytes == Array(Samples.text(secret).utf8))
        #expect(FileFormat.tokenBytes(raw: bytes) == bytes)
        #expect(FileFormat.tokenBytes(raw: bytes + [10]) == bytes, "a newline that an editor added is no damage")
    }

    @Test(arguments: [
        "", "\n", "a\n\n", "a\r\n", " a", "a b", "a=", "\u{feff}a", "a\u{0}", String(repeating: "a", count: 16_385),
    ])
    func rawThatIsNoToken(text: String) {
        #expect(FileFormat.tokenBytes(raw: Array(text.utf8)) == nil)
    }

    @Test func jsonIsAnObjectInAFixedOrder() throws {
        let secret = try Samples.secret()
        let bytes = FileFormat.json(secret)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {
                  "client_id": "com.example.web",
                  "client_secret": "\(Samples.text(secret))",
                  "key_id": "ABC123DEFG",
                  "team_id": "DEF123GHIJ",
                  "issued_at": "2026-09-21T14:13:20Z",
                  "expires_at": "2026-12-20T14:14:20Z"
                }

                """)
        #expect(FileFormat.tokenBytes(json: bytes) == FileFormat.raw(secret))
    }

    @Test func jsonMayBeLaidOutOtherwise() throws {
        let secret = try Samples.secret()
        let text = String(decoding: FileFormat.json(secret), as: UTF8.self)
        let packed = text.filter { !$0.isWhitespace }.replacing("{", with: #"{"mine":[1,{}],"#)
        #expect(FileFormat.tokenBytes(json: Array(packed.utf8)) == FileFormat.raw(secret))
    }

    @Test(arguments: [
        ("com.example.web", "com.example.other"), ("ABC123DEFG", "ABC123DEFH"), ("DEF123GHIJ", "DEF123GHIK"),
        ("2026-09-21T14:13:20Z", "2026-09-21T14:13:21Z"), ("2026-12-20", "2027-12-20"), ("\"key_id\"", "\"key\""),
        ("}", ""), ("\"client_secret\": \"", "\"client_secret\": \" "),
    ])
    func jsonThatDoesNotSayWhatItsTokenStates(from: String, to: String) throws {
        let text = String(decoding: FileFormat.json(try Samples.secret()), as: UTF8.self)
        #expect(text.contains(from))
        #expect(FileFormat.tokenBytes(json: Array(text.replacing(from, with: to).utf8)) == nil)
    }
}
