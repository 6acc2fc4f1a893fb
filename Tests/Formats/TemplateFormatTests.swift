import AppleClientSecret
import Testing

@testable import Formats

@Suite struct TemplateFormatTests {
    private func rendered(_ template: String, _ number: Int64 = 0) throws -> String {
        let bytes = try TemplateFormat(parameter: template).render([.whole: FormatTests.secret(number)], into: [])
        return String(decoding: bytes, as: UTF8.self)
    }

    private func found(_ template: String, in text: String) throws -> ParsedFile.Content? {
        try TemplateFormat(parameter: template).parse(Array(text.utf8), places: [.whole]).places[.whole]
    }

    private func token(_ number: Int64 = 0) throws -> String {
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
    func whatIsWrittenIsReadBack(template: String) throws {
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
            let found = try TemplateFormat(parameter: template).parse(bytes, places: [.whole]).places[.whole]
            #expect(found == .foreign, "byte \(index)")
            bytes[index] = old
        }
        #expect(try found(template, in: text + "\n") == .foreign)
        #expect(try found(template, in: String(text.dropLast())) == .foreign)
        #expect(try found(template, in: "") == .foreign)
        // Two secrets in one file are none that was written.
        let other = text.replacing("again=" + (try token()), with: "again=" + (try token(1)))
        #expect(other != text)
        #expect(try found(template, in: other) == .foreign)
    }

    @Test(arguments: [
        ("x", TemplateFormat.Mistake.noSecret), ("{{client_id}}", .noSecret), ("{{{{client_secret}}", .noSecret),
        ("{{client_secret}} {{secret}}", .unknownName("secret")),
        ("{{ client_secret }}", .unknownName(" client_secret ")),
        ("{{}}", .unknownName("")), ("{{client_secret}} {{", .notClosed), ("{{client_secret", .notClosed),
    ])
    func mistakes(template: String, mistake: TemplateFormat.Mistake) {
        #expect(throws: mistake) { try TemplateFormat.pieces(of: template) }
        #expect(TemplateFormat.setting?.check(template) { "'\($0)'" }?.contains(";") == true)
    }
}
