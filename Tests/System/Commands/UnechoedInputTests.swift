import Foundation
import TestSupport
import Testing

/// What is typed without being shown, on a real terminal.
@Suite(.waits, .needs(.tools)) struct UnechoedInputTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
    }

    /// A shell that runs a command which asks for a token, and then shows what is typed.
    private func console() throws -> Console {
        let configuration = sandbox.directory("clientsecretd.yaml")
        return try Console(
            columns: 120, rows: 12,
            """
            trap : INT
            ulimit -c 0
            sh -c 'echo $$ >\(sandbox.directory("child")); exec \(sandbox.binary) id-token web --config \(configuration)'
            echo "ended with $?"
            read -r line && echo "read $line"
            exec cat >/dev/null
            """)
    }

    private func child() throws -> Int32 {
        try #require(Int32(try sandbox.directory.read("child").trimmingCharacters(in: .newlines)))
    }

    @Test(arguments: ["C-c", "TERM", "HUP", "QUIT"]) func theTerminalShowsTypingAgainWhateverEndsIt(_ way: String)
        throws
    {
        let console = try console()
        try console.wait(for: "Identity token:")
        try console.type("hidden")
        let number = try #require(["C-c": SIGINT, "TERM": SIGTERM, "HUP": SIGHUP, "QUIT": SIGQUIT][way])
        if way == "C-c" { try console.press(way) } else { kill(try child(), number) }
        try console.wait(for: "ended with \(128 + number)")
        try console.type("shown")
        let lines = try console.wait(for: "shown")
        #expect(!lines.contains { $0.contains("hidden") })
    }

    @Test func stoppedItShowsWhatIsTypedAndContinuedItDoesNot() throws {
        let console = try console()
        try console.wait(for: "Identity token:")
        // The shell does not control jobs: it waits until the command goes on.
        kill(try child(), SIGTSTP)
        try sandbox.eventually("it is stopped") {
            try String(contentsOfFile: "/proc/\(child())/stat", encoding: .utf8).contains(") T ")
        }
        try console.type("shown")
        try console.wait(for: "shown")
        kill(try child(), SIGCONT)
        try sandbox.eventually("it goes on") {
            try String(contentsOfFile: "/proc/\(child())/stat", encoding: .utf8).contains(") S ")
        }
        try console.type("hidden")
        try console.press("Enter")
        let lines = try console.wait(for: "ended with 1")
        #expect(!lines.contains { $0.contains("hidden") })
    }

    /// Else the shell would run the rest of what was pasted.
    @Test func whatFollowsTheLineIsDiscarded() throws {
        let console = try console()
        try console.wait(for: "Identity token:")
        // Stopped so that the terminal stays as it is: all is typed before the first line is read.
        kill(try child(), SIGSTOP)
        try sandbox.eventually("it is stopped") {
            try String(contentsOfFile: "/proc/\(child())/stat", encoding: .utf8).contains(") T ")
        }
        for line in ["hidden", "spilled"] {
            try console.type(line)
            try console.press("Enter")
        }
        #expect(try !console.screen().contains { $0.contains("spilled") })
        kill(try child(), SIGCONT)
        try console.wait(for: "ended with 1")
        try console.type("shown")
        try console.press("Enter")
        #expect(try console.wait(for: "read ").contains("read shown"))
    }
}
