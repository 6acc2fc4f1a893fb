import Failures
import Linux

/// A line that was shown, carried out as root's shell would.
enum PrintedLine {
    /// In milliseconds; longer than systemd waits for a unit to start.
    private static let timeout: Int64 = 120_000

    /// Returns whether it succeeded. A failure is printed only: `check` says what is still missing.
    @discardableResult
    static func run(_ line: String) -> Bool {
        guard let failure = failure(of: line) else { return true }
        show(failure)
        return false
    }

    static func show(_ failure: [String]) {
        for line in failure { CommandOutput.complain(lines: line) }
    }

    /// Carries it out, and returns the lines that say why it failed; nil where it did not.
    static func failure(of line: String) -> [String]? {
        do throws(SystemError) {
            let report = try ChildProcess.run(
                ["/bin/sh", "-c", line], environment: Environment.current, timeout: timeout)
            guard report.ending != .exited(0) else { return nil }
            return ["clientsecretd: this failed: \(line)"] + report.lines.map { "  " + $0 }
        } catch {
            return ["clientsecretd: this failed: \(line): \(error.description)"]
        }
    }
}
