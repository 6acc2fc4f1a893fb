import Foundation
import TestSupport
import Testing

/// `status` and `status --watch` on a real terminal.
@Suite(.waits, .needs(.tools)) struct StatusScreenTests {
    private func watch(_ sandbox: Sandbox, variables: String = "") throws -> Console {
        try Console(sandbox, "status --watch --socket \(sandbox.socket)", variables: variables)
    }

    @Test func aRestartOfTheDaemonIsSurvived() throws {
        let sandbox = try Sandbox.running("web")
        let console = try watch(sandbox)
        let first = try console.wait(for: "web     ok")
        #expect(first[0].hasPrefix("clientsecretd 0.1.0 is ok: 1 client, started "))
        #expect(first[2] == "CLIENT  STATE  LIFE (│ renewal)      EXPIRES     RENEWS      MINTED  OUTPUTS")
        #expect(first[3].contains(#/^web     ok     ░?█+│█+  in /#))
        #expect(first.count == 4)

        sandbox.stop()
        let away = try console.wait(for: "Not reachable since 2")
        let words = away.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(words.contains("is it running?"))
        #expect(away.contains { $0.hasPrefix("The daemon's last status, ") })
        #expect(away.contains { $0.hasPrefix("web     ok") })
        try sandbox.start()
        // Nothing of the longer picture before is left.
        let back = try console.wait(for: "the daemon") { $0[0].hasPrefix("clientsecretd 0.1.0 is ok") }
        #expect(back.count == 4)
        #expect(back[3].hasPrefix("web     ok"))
    }

    @Test func anotherSizeIsAnotherPicture() throws {
        let sandbox = try Sandbox.running("web", "a-client-with-a-long-name")
        let console = try watch(sandbox)
        for (columns, rows) in [(40, 20), (60, 20), (100, 20), (30, 6), (130, 20)] {
            try console.resize(columns: columns, rows: rows)
            try console.wait(for: "a picture of \(columns) columns") { lines in
                // The first line is wrapped where it has to be, and nothing of another size is left.
                let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
                return words.hasPrefix("clientsecretd 0.1.0 is ok: 2 clients, started")
                    && lines.count <= rows - 1 && lines.allSatisfy { $0.count <= columns }
                    && lines.filter { $0.contains("clientsecretd 0.1.0") }.count == 1
                    && (rows < 10 || lines.contains { $0.contains("CLIENT ") })
                    && (columns < 100 || lines.contains { $0.hasPrefix("web   ") && $0.contains("│") })
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func theTerminalIsGivenBackWhateverEndsIt(_ end: Int32) throws {
        let console = try watch(Sandbox.running("web"))
        try console.wait(for: "web     ok")
        #expect(try console.isTaken())
        #expect(try !console.hasCursor())
        try console.signal(end)
        let after = try console.wait(for: "ended with \(128 + end)")
        #expect(after[0] == "before")
        #expect(!after.contains { $0.contains("web") })
        #expect(try !console.isTaken())
        #expect(try console.hasCursor())
    }

    @Test func stoppedItLeavesTheTerminalAndContinuedItTakesItAgain() throws {
        let console = try watch(Sandbox.running("web"))
        try console.wait(for: "web     ok")
        try console.signal(SIGTSTP)
        let stopped = try console.wait(for: "before")
        #expect(!stopped.contains { $0.contains("web") })
        #expect(try console.hasCursor())
        try console.signal(SIGCONT)
        try console.wait(for: "web     ok")
        #expect(try console.isTaken())
        #expect(try !console.hasCursor())
    }

    /// A terminal that cannot be drawn over gets what has changed, line by line.
    @Test func aDumbTerminalIsShownWhatHasChanged() throws {
        let sandbox = try Sandbox.running("web")
        let console = try watch(sandbox, variables: "TERM=dumb")
        try console.wait(for: "web     ok")
        #expect(try !console.isTaken())
        #expect(try console.screen()[0] == "before")
        try sandbox.command("renew", "web")
        try console.wait(for: "a second picture") { $0.filter { $0.hasPrefix("CLIENT") }.count == 2 }
    }

    @Test func inAPipeEachChangeIsADocument() throws {
        let sandbox = try Sandbox.running("web")
        let watched = try Background([sandbox.binary, "status", "--watch", "--json", "--socket", sandbox.socket])
        #expect(watched.firstLine.hasPrefix("{"))
        try sandbox.command("renew", "web")
        try sandbox.eventually("a second document") { watched.hasMore }
        #expect(try !watched.next().isEmpty)
    }
}
