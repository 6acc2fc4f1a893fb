import Foundation
import TestSupport
import Testing

/// What is no output any more and still holds a secret: named once, and left to the administrator.
@Suite(.waits) struct OrphanedFilesTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static let words = "when nothing reads it, remove "

    private func named(_ command: Finished) -> Set<Substring> {
        Set(command.complaints.split(separator: "\n").filter { $0.contains(Self.words) })
    }

    /// How often the log has named one.
    private func logged() throws -> Int { try sandbox.log().components(separatedBy: Self.words).count - 1 }

    private func output(_ name: String, _ more: String) -> String {
        "      - {path: \(sandbox.directory("out/" + name)), \(more)}\n"
    }

    @Test func anOutputTakenOutOfTheConfigurationIsNamedOnceAndKept() throws {
        try sandbox.directory.write("PORT=80\n", to: "out/app.env")
        let shop = sandbox.client("shop")
        try sandbox.configure(
            sandbox.client("web") + output("web.json", "format: json") + output("app.env", "format: env, variable: WEB")
                + output("web.properties", "format: template, template: 'a={{client_secret}}'")
                + shop + output("app.env", "format: env, variable: SHOP"))
        try sandbox.start()
        let files = ["web.json", "app.env", "web.properties", "shop.jwt"]
        let before = try files.map { try sandbox.directory.read("out/" + $0) }
        #expect(try named(sandbox.command("check")).isEmpty)

        try sandbox.configure(sandbox.client("web"))
        let checked = try named(sandbox.command("check"))
        #expect(checked.count == 5, "\(checked)")
        let reload = try sandbox.command("reload")
        #expect(reload.status == 0 && named(reload) == checked, "\(reload.complaints)")
        #expect(try logged() == 5)
        let again = try sandbox.command("reload")
        #expect(again.output + again.complaints == "The configuration is loaded.\n")
        #expect(try files.map { try sandbox.directory.read("out/" + $0) } == before)

        // What an edit between two runs removes is named by `check`, until the daemon has adopted it.
        try sandbox.configure(sandbox.client("web") + shop)
        try sandbox.succeed("reload")
        sandbox.stop()
        try sandbox.configure(sandbox.client("web"))
        #expect(try named(sandbox.command("check")).count == 1)
        try sandbox.start()
        #expect(try named(sandbox.command("check")).isEmpty)
        #expect(try logged() == 5)
        sandbox.stop()
        for name in files { try sandbox.remove("out/" + name) }
        #expect(try sandbox.command("check").complaints == "")
    }
}
