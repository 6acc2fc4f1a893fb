import Foundation
import TestSupport
import Testing

/// What docs/push.md shows is what the program takes.
@Suite(.waits, .needs(.venv)) struct PushGuideTests {
    @Test func everyRecipeIsATarget() throws {
        let page = try String(contentsOfFile: repository + "/docs/push.md", encoding: .utf8)
        let recipes = page.components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "```\n")[0]
        }
        #expect(recipes.count == 9)
        // The service sees no file there (InaccessiblePaths= of clientsecretd-push@.service).
        let hidden = /(?:token_file|ca_file): *"?\/(?:etc|var\/lib|run)\/clientsecretd/
        for recipe in recipes { #expect(!recipe.contains(hidden), "\(recipe)") }
        let directory = try TemporaryDirectory()
        for recipe in recipes {
            let lines = recipe.split(separator: "\n")
            let name = try #require(lines.dropFirst().first?.split(separator: ":").first)
                .trimmingCharacters(in: .whitespaces)
            try directory.write(recipe, to: "clientsecretd.yaml")
            let request = #"{"do":"read","client_secret":"\#(PushBed.secrets[0])"}"#
            let finished = try run(
                [Binaries.network, "push", name, "--config", directory("clientsecretd.yaml")],
                input: Data(request.utf8))
            // Its settings pass; the token, which is looked for before anything is asked, is not there.
            #expect(finished.output.contains(#""code":"push_token_unusable""#), "\(name): \(finished.output)")
            #expect(
                finished.output.contains("no such file")
                    || finished.output.contains("systemd passed no credentials"),
                "\(name): \(finished.output)")
        }
    }
}
