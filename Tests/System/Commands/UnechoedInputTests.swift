import Foundation
import TestSupport
import Testing

/// What is typed without being shown, on a real terminal.
@Suite(.waits, .needs(.tools)) struct UnechoedInputTests {
    /// A shell that runs a command which asks for a token, and then shows what is typed.
    private let console: Console

    init() throws {
        let sandbox = try Sandbox(clients: "web")
        console = try Console(
            sandbox, "id-token web --config \(sandbox.configuration)",
            next: """
                read -r line && echo "read $line"
                exec cat >/dev/null
                """)
        try console.wait(for: "Identity token:")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func theTerminalShowsTypingAgainWhateverEndsIt(_ end: Int32) throws {
        try console.type("hidden")
        try console.signal(end)
        try console.wait(for: "ended with \(128 + end)")
        try console.type("shown")
        let lines = try console.wait(for: "shown")
        #expect(!lines.contains { $0.contains("hidden") })
    }

    @Test func stoppedItShowsWhatIsTypedAndContinuedItDoesNot() throws {
        // The shell does not control jobs: it waits until the command goes on.
        try console.signal(SIGTSTP)
        try console.wait(forState: "T")
        try console.type("shown")
        try console.wait(for: "shown")
        try console.signal(SIGCONT)
        try console.wait(forState: "S")
        try console.type("hidden")
        try console.press("Enter")
        let lines = try console.wait(for: "ended with 1")
        #expect(!lines.contains { $0.contains("hidden") })
    }

    /// Else the shell would run the rest of what was pasted.
    @Test func whatFollowsTheLineIsDiscarded() throws {
        // Stopped so that the terminal stays as it is: all is typed before the first line is read.
        try console.signal(SIGSTOP)
        try console.wait(forState: "T")
        for line in ["hidden", "spilled"] {
            try console.type(line)
            try console.press("Enter")
        }
        #expect(try !console.screen().contains { $0.contains("spilled") })
        try console.signal(SIGCONT)
        try console.wait(for: "ended with 1")
        try console.type("shown")
        try console.press("Enter")
        #expect(try console.wait(for: "read ").contains("read shown"))
    }
}
