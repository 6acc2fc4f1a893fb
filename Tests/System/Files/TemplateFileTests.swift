import Foundation
import TestSupport
import Testing

/// Files of `format: template`, whose text is the configuration's: it may change while the daemon runs.
@Suite(.waits) struct TemplateFileTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// A client with a raw output and a file of these lines.
    private func client(_ template: String...) -> String {
        sandbox.client("web") + """
                  - path: \(path)
                    format: template
                    template: |

            """ + template.map { "          \($0)\n" }.joined()
    }

    private var path: String { sandbox.directory("out/web.properties") }

    private func content() throws -> String { try sandbox.directory.read("out/web.properties") }

    /// How many secrets were minted since the first start.
    private func minted() throws -> Int { try sandbox.log().components(separatedBy: ": minted ").count - 1 }

    @Test func anEditedTemplateIsWrittenAgainWithTheSameSecret() throws {
        try sandbox.configure(client("secret={{client_secret}}"))
        try sandbox.start()
        let token = try sandbox.published()
        #expect(try content() == "secret=\(token)\n")

        try sandbox.configure(client("id = {{client_id}}", "secret = {{client_secret}}"))
        try sandbox.succeed("reload")
        try sandbox.eventually("the new text") { try content() == "id = com.example.web\nsecret = \(token)\n" }
        try sandbox.eventually("nothing is wrong") { try sandbox.status()["state"] as? String == "ok" }

        // A template that cannot be written leaves the file as it is.
        try sandbox.configure(client("secret={{client_sekret}}"))
        let refused = try sandbox.command("reload")
        #expect(refused.status == 78)
        #expect(refused.complaints.contains("\"client_sekret\" is no name for a template"), "\(refused.complaints)")
        #expect(try content() == "id = com.example.web\nsecret = \(token)\n")

        // While nobody watches.
        sandbox.stop()
        try sandbox.configure(client("{{client_secret}} # {{key_id}}"))
        try sandbox.start()
        #expect(try content() == "\(token) # ABC123DEFG\n")
        #expect(try minted() == 1)
    }

    @Test(.needs(.root)) func itMayBelongToAnotherUser() throws {
        let user = UserWriterHost.user
        try sandbox.makeDirectory("app", of: user)
        func client(_ template: String) -> String {
            let path = sandbox.directory("app/web.properties")
            return sandbox.client("web")
                + "      - {path: \(path), format: template, template: \"\(template)\", as: \(user)}\n"
        }
        func content() throws -> String { try sandbox.directory.read("app/web.properties") }
        try sandbox.configureForWriters(client("secret={{client_secret}}"))
        try sandbox.start()
        let token = try sandbox.published()
        #expect(try content() == "secret=\(token)")
        #expect(try sandbox.owner(of: "app/web.properties") == [Int(user), Int(user)])

        try sandbox.write("secret=\(token) # mine", to: "app/web.properties", of: user)
        try sandbox.eventually("the repair") { try content() == "secret=\(token)" }
        try sandbox.configureForWriters(client("{{team_id}}:{{client_secret}}"))
        try sandbox.succeed("reload")
        try sandbox.eventually("the new text") { try content() == "DEF123GHIJ:\(token)" }
        #expect(try sandbox.owner(of: "app/web.properties") == [Int(user), Int(user)])
        try sandbox.succeed("health", "--offline")
        #expect(try minted() == 1)
    }
}
