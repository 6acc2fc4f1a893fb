import Failures
import Linux

/// A line that was shown, carried out as root's shell would.
enum PrintedLine {
    /// In milliseconds; longer than systemd waits for a unit to start.
    private static let timeout: Int64 = 120_000

    /// Returns whether it succeeded. A failure is printed only: `check` says what is still missing.
    @discardableResult
    static func run(_ line: String) -> Bool {
        do throws(SystemError) {
            let report = try ChildProcess.run(
                ["/bin/sh", "-c", line], environment: Environment.current, timeout: timeout)
            guard report.ending != .exited(0) else { return true }
            CommandOutput.complain("this failed: \(line)")
            for line in report.lines { CommandOutput.complain(lines: "  " + line) }
        } catch {
            CommandOutput.complain("this failed: \(line): \(error.description)")
        }
        return false
    }
}
