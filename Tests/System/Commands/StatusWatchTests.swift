import Foundation
import TestSupport
import Testing

/// `status --watch`, which stays while daemons come and go.
@Suite(.waits) struct StatusWatchTests {
    /// Starts `arguments` with its output going to a file of the sandbox.
    private func start(
        _ sandbox: Sandbox, _ arguments: [String], output: String, complaints: String = "complaints",
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        for (name, isOutput) in [(output, true), (complaints, false)] {
            try sandbox.directory.write("", to: name)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: sandbox.directory(name)))
            if isOutput { process.standardOutput = handle } else { process.standardError = handle }
        }
        try process.run()
        return process
    }

    /// What Foundation starts may have every signal blocked that can be.
    private func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test func intoAPipeGoesWhatChangesAndARestartIsWaitedFor() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        let watch = try start(
            sandbox, [sandbox.binary, "status", "--watch", "--socket", sandbox.socket], output: "watched")
        defer { end(watch) }
        try sandbox.eventually("waiting for a daemon") {
            try sandbox.directory.read("complaints")
                == "clientsecretd: no daemon can be reached at \(sandbox.socket): No such file or directory; "
                + "is it running? (systemctl status clientsecretd); waiting\n"
        }
        // It looks once a second, and says so once: nothing must come while it looks twice more.
        let complaint = try sandbox.directory.read("complaints")
        usleep(2_100_000)
        #expect(try sandbox.directory.read("complaints") == complaint)
        try sandbox.start()
        try sandbox.eventually("the first table") { try sandbox.directory.read("watched").contains("web     ok") }
        // Once nothing changes any more, nothing more is written, however often it looks.
        var first = ""
        for _ in 0..<10 {
            let before = first
            first = try sandbox.directory.read("watched")
            if first == before { break }
            usleep(2_100_000)
        }
        #expect(try sandbox.directory.read("watched") == first)
        #expect(!first.contains("\u{1B}"))
        sandbox.stop()
        try sandbox.eventually("another complaint") {
            try sandbox.directory.read("complaints").split(separator: "\n").count >= 2
        }
        try sandbox.start()
        try sandbox.eventually("another table") {
            try sandbox.directory.read("watched").dropFirst(first.count).contains("web     ok")
        }
        #expect(watch.isRunning)
    }

    @Test func onATerminalThePictureIsRedrawnInPlace() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let watch = try start(
            sandbox,
            ["script", "-qefc", "\(sandbox.binary) status --watch --socket \(sandbox.socket)", "/dev/null"],
            output: "watched", environment: ["TERM": "xterm"])
        defer { end(watch) }
        try sandbox.eventually("three frames") {
            try sandbox.directory.read("watched").components(separatedBy: "\u{1B}[H").count > 3
        }
        let drawn = try sandbox.directory.read("watched")
        #expect(drawn.components(separatedBy: "\u{1B}[2J").count == 2, "cleared once")
        #expect(drawn.contains("\u{1B}[32mok\u{1B}[0m"))
        #expect(drawn.contains("█"))
        sandbox.stop()
        try sandbox.eventually("the word that it waits") {
            try sandbox.directory.read("watched").contains("Not reachable since ")
        }
        // What it said last stays in sight.
        let waiting = try #require(sandbox.directory.read("watched").components(separatedBy: "\u{1B}[H").last)
        #expect(waiting.contains("What the daemon said") && waiting.contains("web"))
        #expect(watch.isRunning)
    }

    @Test func aTerminalWithoutColourGetsNone() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let shown = try run(
            ["script", "-qefc", "\(sandbox.binary) status --socket \(sandbox.socket)", "/dev/null"],
            environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C"])
        #expect(shown.output.contains("web"))
        #expect(!shown.output.contains("\u{1B}"))
        #expect(!shown.output.contains("█"))
    }
}
