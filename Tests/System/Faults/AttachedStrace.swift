import Foundation
import TestSupport

/// strace, attached to a daemon that runs already: it has system calls fail.
final class AttachedStrace {
    private let process = Process()

    /// - Parameter path: the file that a call must be about; empty: any.
    init(to daemon: Int32, _ injection: String, at path: String = "", in sandbox: Sandbox) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let call = String(injection.dropFirst("inject=".count).prefix { $0 != ":" })
        // Tests run on threads that block most signals, and what they start inherits that; strace lets go at SIGTERM.
        process.arguments =
            [
                "--default-signal", "strace", "-f", "-qq", "-o", "/dev/null", "-p", "\(daemon)", "-e", "trace=\(call)",
                "-e", injection,
            ] + (path.isEmpty ? [] : ["-P", path])
        try process.run()
        try sandbox.eventually("strace on every thread") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/task").allSatisfy { thread in
                let status = try? sandbox.text("/proc/\(daemon)/task/\(thread)/status")
                return status.map { !$0.contains("TracerPid:\t0\n") } ?? true
            }
        }
    }

    /// Lets the daemon go on without it.
    func detach() {
        guard !process.hasEnded else { return }
        process.terminate()
        process.awaitEnd()
    }
}
