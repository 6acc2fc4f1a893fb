import AppleClientSecret
import Failures
import Glibc
import Linux

/// Fixes the missing requirements that `check` prints (`check --fix`).
enum CheckFix {
    /// Shows each line, then carries it out. It looks again after one that failed, and for lines that only appear after others
    /// are fixed, until there is no new one.
    ///
    /// A child judges, because a process that judges as the service's user can fix nothing afterwards. Lines that it finds are
    /// `ShellCommand`s, which root may run as printed.
    ///
    /// - Parameter arguments: the flags with which `check` is run.
    static func run(_ arguments: [String]) throws(CommandFailure) {
        guard geteuid() == 0 else {
            throw CommandFailure(
                .notPermitted, "--fix changes files and units of the system; run it as root, with sudo")
        }
        guard let program = OwnProgram.path() else {
            throw CommandFailure(.failed, "--fix runs this program again and cannot find it without /proc")
        }
        let check = [program, "check", "--json"] + arguments
        var done: Set<String> = []
        while true {
            let lines = try lines(of: check).filter { !done.contains($0.line) }
            if lines.isEmpty { return }
            for line in lines {
                done.insert(line.line)
                CommandOutput.complain(lines: "\(line.reason)\n  \(line.line)")
                // It may have failed because an earlier one did a part of it: the next look prints it without that part.
                guard let failure = PrintedCommandRunner.failure(of: line.line) else { continue }
                CommandOutput.complain(lines: failure)
                break
            }
        }
    }

    /// The lines that `check` prints now, and why each is run; none if it cannot judge, which the check at the end explains.
    private static func lines(of check: [String]) throws(CommandFailure) -> [(reason: String, line: String)] {
        let report = try PipedProgram.run(check, input: [], isQuiet: true).output.flatMap { try? JSONValue($0) }
        let problems = (report?["problems"]?.elements ?? []).compactMap(\.text)
        return (report?["commands"]?.elements ?? []).compactMap(\.text).map { line in
            let problem = problems.first { $0.hasSuffix(": " + line) }
            return (problem.map { String($0.dropLast(line.count + 1)) } ?? "running:", line)
        }
    }
}
