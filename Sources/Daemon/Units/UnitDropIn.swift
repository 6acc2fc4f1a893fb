package import Failures

/// Missing lines of a unit that belong into a drop-in file.
package struct UnitDropIn: Hashable, Sendable {
    package let unit: String
    package let lines: [String]
    package let isRunning: Bool

    /// The drop-in file for the lines.
    package var file: String { ShellCommand.outputsFile(of: unit).path }

    /// The lines with their section's heading.
    package var text: String { (["[Service]"] + lines).joined(separator: "\n") + "\n" }

    /// Adds the lines; nil if one of them cannot be pasted.
    package var command: ShellCommand? { .addSettings(lines, to: unit) }
}
