import Foundation
import TestSupport
import Testing

/// Which problems commands report, and for whom.
@Suite(.waits) struct ReportedProblemsTests {
    /// Each client's output is a line of its own.
    @Test func checkNamesEveryClientOfASharedFileThatWasDeleted() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.directory.write("PORT=80\n", to: "out/.env")
        try sandbox.configure(["a", "b"].map { sandbox.client($0, at: file, variable: "SECRET_\($0)") }.joined())
        try sandbox.succeed("run", "--once")
        try FileManager.default.removeItem(atPath: file)
        let check = try sandbox.command("check")
        let lines = check.complaints.split(separator: "\n").filter { $0.contains("was deleted with its other lines") }
        let positions = Set(lines.compactMap { $0.split(separator: ":").dropFirst().first })
        #expect(check.status == 1 && lines.count == 2 && positions.count == 2, "\(check.complaints)")
    }

    @Test func runOncePrintsAFailureOnce() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web", more: "    on_change: [{exec: [/bin/false]}]"))
        let once = try sandbox.command("run", "--once")
        let lines = once.complaints.split(separator: "\n").filter { $0.contains("exec /bin/false: failed") }
        #expect(once.status == 1 && lines.count == 1, "\(once.complaints)")
        #expect(lines.first?.hasPrefix("web: ") == true)
    }

    @Test func doctorsDocumentHasTheCommandOfItsText() throws {
        let sandbox = try Sandbox(clients: "web")
        let run = "clientsecretd run --config \(sandbox.configuration) --socket \(sandbox.socket)"
        let text = try sandbox.command("doctor", "--skip-verify")
        #expect(text.output.hasSuffix("\n  fix: start the daemon: \(run)\n"), "\(text.output)")
        let document = try sandbox.command("doctor", "--skip-verify", "--json")
        let client = try #require((object(document.output)["clients"] as? [[String: Any]])?.first)
        #expect(client["remedy"] as? String == "start the daemon: \(run)")
        #expect(client["command"] as? String == run)
    }
}
