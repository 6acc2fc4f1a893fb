import Foundation
import TestSupport
import Testing

/// A terminal of a test's own with a program in it: tmux, to which nobody is attached.
final class Console {
    private let directory: TemporaryDirectory
    private let environment: [String: String]
    /// Whose command it runs.
    private var sandbox: Sandbox?

    /// Starts `script` in a shell.
    init(columns: Int, rows: Int, _ script: String, environment: [String: String] = [:]) throws {
        directory = try TemporaryDirectory()
        // The shell and what it starts get the test's signals as they are by default.
        self.environment = ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TMUX": ""].merging(environment) { $1 }
        try directory.write(script, to: "script")
        try directory.write("set -g default-terminal tmux-256color\n", to: "tmux.conf")
        try tmux(
            "new-session", "-d", "-x", String(columns), "-y", String(rows),
            "env --default-signal /bin/sh \(directory("script"))")
    }

    /// Runs a command of a sandbox's, in the foreground: what a shell runs in the background does not hear the terminal's keys.
    ///
    /// - Parameters:
    ///   - variables: what is added to its environment, as for env(1).
    ///   - next: what the shell does after the command.
    convenience init(
        _ sandbox: Sandbox, _ command: String, variables: String = "", next: String = "exec sleep 600"
    ) throws {
        try self.init(
            columns: 100, rows: 20,
            """
            trap : INT
            echo before
            ulimit -c 0
            sh -c 'echo $$ >\(sandbox.directory("child")); exec env \(variables) \(sandbox.binary) \(command)'
            echo "ended with $?"
            \(next)
            """)
        self.sandbox = sandbox
    }

    /// Sends the command a signal; SIGINT by the terminal's key.
    func signal(_ number: Int32) throws {
        if number == SIGINT { return try press("C-c") }
        kill(try child(), number)
    }

    /// Waits until the command is in a state by proc(5), such as T for stopped.
    func wait(forState state: String) throws {
        let stat = "/proc/\(try child())/stat"
        try sandbox?.eventually("state \(state)") { try sandbox?.text(stat).contains(") \(state) ") == true }
    }

    private func child() throws -> Int32 {
        let text = try #require(sandbox).directory.read("child")
        return try #require(Int32(text.trimmingCharacters(in: .newlines)))
    }

    deinit {
        // Its server, by its own socket.
        _ = try? run(["tmux", "-S", directory("tmux"), "kill-server"])
    }

    /// tmux leaves a server behind.
    @discardableResult
    private func tmux(_ arguments: String...) throws -> String {
        try runToSuccess(
            [
                "env", "--default-signal", "bash", "-c", Background.alone, "bash", "tmux", "-u", "-S",
                directory("tmux"), "-f", directory("tmux.conf"),
            ] + arguments, environment: environment)
    }

    /// What is to be seen, line by line without blanks at their ends.
    func screen() throws -> [String] {
        let text = try tmux("capture-pane", "-p")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// The lines of the first screen that holds `text`.
    @discardableResult
    func wait(for text: String) throws -> [String] {
        try wait(for: "\"\(text)\"") { $0.contains { $0.contains(text) } }
    }

    /// For a minute at most.
    @discardableResult
    func wait(for what: String, _ condition: ([String]) throws -> Bool) throws -> [String] {
        var last: [String] = []
        for _ in 0..<1200 {
            last = try screen()
            if try condition(last) { return last }
            usleep(50_000)
        }
        Issue.record("\(what) did not come to be seen:\n\(last.joined(separator: "\n"))")
        return last
    }

    func resize(columns: Int, rows: Int) throws {
        try tmux("resize-window", "-x", String(columns), "-y", String(rows))
    }

    /// Presses keys, by tmux's names for them; other words are typed letter by letter.
    func press(_ keys: String...) throws {
        for key in keys { try tmux("send-keys", key) }
    }

    func type(_ text: String) throws {
        try tmux("send-keys", "-l", text)
    }

    /// Whether a program has the alternate screen.
    func isTaken() throws -> Bool { try tmux("display-message", "-p", "#{alternate_on}") == "1\n" }

    func hasCursor() throws -> Bool { try tmux("display-message", "-p", "#{cursor_flag}") == "1\n" }
}
