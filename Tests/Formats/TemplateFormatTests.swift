import AppleClientSecret
import Model
import Testing

@testable import Formats

@Suite struct TemplateFormatTests {
    private func rendered(_ template: String, _ number: Int = 0) throws -> String {
        let bytes = try TemplateFormat(parameter: template).render([.whole: FormatTests.secret(number)], into: [])
        return String(decoding: bytes, as: UTF8.self)
    }

    private func found(_ template: String, in text: String) throws -> ParsedFile.Content? {
        try TemplateFormat(parameter: template).parse(Array(text.utf8), slots: [.whole]).slots[.whole]
    }

    private func token(_ number: Int = 0) throws -> String {
        String(decoding: try FormatTests.secret(number).token, as: UTF8.self)
    }

    @Test func everyNameStandsForWhatTheSecretStates() throws {
        let template = """
            apple.client-id={{client_id}}
            apple.client-secret={{client_secret}}
            # {{team_id}} {{key_id}}, from {{issued_at}} to {{expires_at}}; {{{{client_id}} is {{client_id}}

            """
        let expected = """
            apple.client-id=com.example.web
            apple.client-secret=\(try token())
            # DEF123GHIJ ABC123DEFG, from 2026-09-21T14:13:20Z to 2026-12-20T14:14:20Z; {{client_id}} is com.example.web

            """
        #expect(try rendered(template) == expected)
        #expect(try found(template, in: expected) == .token(Array(try token().utf8)))
    }

    @Test(arguments: [
        "{{client_secret}}", "eyJ{{client_secret}}", "{{client_secret}}x", "{{client_secret}}.a.b",
        "a.b.{{client_secret}}",
        "{{client_secret}}{{client_secret}}", "{{client_id}}{{client_secret}}\n", "{{{{{{client_secret}}}}",
        "{ {{client_secret}} }",
        "x: '{{client_secret}}'\ny: eyJhIjoxfQ.eyJiIjoyfQ.c\nz: {{client_secret}}\n",
    ])
    func everythingWrittenIsReadBack(template: String) throws {
        let text = try rendered(template)
        #expect(text.contains(try token()))
        #expect(try found(template, in: text) == .token(Array(try token().utf8)))
    }

    /// The file belongs to the template: whatever differs in it is drift.
    @Test func everyByteOfTheFileCounts() throws {
        let template = "id={{client_id}} secret={{client_secret}} again={{client_secret}} until={{expires_at}}\n"
        let text = try rendered(template)
        var random = SystemRandomNumberGenerator()
        var bytes = Array(text.utf8)
        for index in bytes.indices {
            let old = bytes[index]
            bytes[index] = old ^ UInt8(1 << Int.random(in: 0..<7, using: &random))
            let found = try TemplateFormat(parameter: template).parse(bytes, slots: [.whole]).slots[.whole]
            #expect(found == .foreign, "byte \(index)")
            bytes[index] = old
        }
        #expect(try found(template, in: text + "\n") == .foreign)
        #expect(try found(template, in: String(text.dropLast())) == .foreign)
        // Two secrets in one file are none that was written.
        let other = text.replacing("again=" + (try token()), with: "again=" + (try token(1)))
        #expect(other != text)
        #expect(try found(template, in: other) == .foreign)
    }

    /// Without its template, as when the file has left the configuration, any secret in it counts, and nothing is written.
    @Test func withoutATemplateTheFirstSecretCounts() throws {
        let format = TemplateFormat(parameter: nil)
        let bytes = Array("a: \(try token())\nb: \(try token(1))\n".utf8)
        #expect(try format.parse(bytes, slots: [.whole]).slots == [.whole: .token(Array(try token().utf8))])
        #expect(try format.render([.whole: FormatTests.secret(2)], into: bytes) == bytes)
    }

    @Test(arguments: ["secret=", "secret=\nid=com.example.web\n", "secret=eyJ..\n", "secret={{client_secret}}\n"])
    func aFileWhoseSecretIsRemovedHoldsNone(text: String) throws {
        #expect(try found("secret={{client_secret}}\n", in: text) == .foreign)
        #expect(
            try TemplateFormat(parameter: nil).parse(Array(text.utf8), slots: [.whole]).slots == [.whole: .foreign])
    }

    /// With no secret to write the bytes stay.
    @Test func withoutASecretNothingIsWritten() throws {
        let bytes = Array("secret=x\n".utf8)
        #expect(try TemplateFormat(parameter: "secret={{client_secret}}\n").render([:], into: bytes) == bytes)
    }

    @Test func bytesThatAreNoUTF8AreDamageAndReplaced() throws {
        let template = "naïve={{client_secret}}\n"
        let (text, foreign): ([UInt8], [UInt8]) = (Array(try rendered(template).utf8), [0xFF, 0xC3, 0x00])
        let format = TemplateFormat(parameter: template)
        #expect(try format.parse(text, slots: [.whole]).slots == [.whole: .token(Array(try token().utf8))])
        for bytes in [foreign + text, text + foreign, text.map { $0 == 0xC3 ? 0xFF : $0 }] {
            #expect(try format.parse(bytes, slots: [.whole]).slots == [.whole: .foreign])
            #expect(try format.render([.whole: FormatTests.secret()], into: bytes) == text)
            let any = try TemplateFormat(parameter: nil).parse(bytes, slots: [.whole])
            #expect(any.slots == [.whole: .token(Array(try token().utf8))])
        }
    }

    /// Each of these takes a minute and more where the time grows with the square of the size.
    @Test(arguments: ["eyJ", "eyJ."])
    func aMebibyteThatBeginsLikeSecretsEverywhereIsRead(piece: String) throws {
        let bytes = Array(String(repeating: piece, count: (1 << 20) / piece.utf8.count).utf8)
        let secret = try FormatTests.secret().token
        let found = try TemplateFormat(parameter: nil).parse(bytes + [UInt8(ascii: "\n")] + secret, slots: [.whole])
        #expect(found.slots == [.whole: .token(secret)])
    }

    @Test(arguments: [
        ("x", TemplateFormat.TemplateError.noSecret), ("{{client_id}}", .noSecret), ("{{{{client_secret}}", .noSecret),
        ("{{client_secret}} {{secret}}", .unknownName("secret")),
        ("{{ client_secret }}", .unknownName(" client_secret ")),
        ("{{}}", .unknownName("")), ("{{client_secret}} {{", .notClosed), ("{{client_secret", .notClosed),
    ])
    func templateErrors(template: String, error: TemplateFormat.TemplateError) {
        #expect(throws: error) { try TemplateFormat.pieces(of: template) }
        #expect(TemplateFormat.setting?.check(template) { "'\($0)'" }?.contains(";") == true)
    }
}
