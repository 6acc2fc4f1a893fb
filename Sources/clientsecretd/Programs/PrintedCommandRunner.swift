import Failures
import Linux

/// A line that was shown, carried out as root's shell would.
enum PrintedCommandRunner {
    /// In milliseconds; longer than systemd waits for a unit to start.
    private static let timeout: Int64 = 120_000

    /// Carries it out, and returns the lines that say why it failed; nil if it did not.
    static func failure(of line: String) -> String? {
        do throws(SystemError) {
            let report = try ChildProcess.run(
                ["/bin/sh", "-c", line], environment: OwnEnvironment.current, timeout: timeout)
            guard report.ending != .exited(0) else { return nil }
            return (["clientsecretd: this failed: \(line)"] + report.lines.map { "  " + $0 }).joined(separator: "\n")
        } catch {
            return "clientsecretd: this failed: \(line): \(error.description)"
        }
    }
}
