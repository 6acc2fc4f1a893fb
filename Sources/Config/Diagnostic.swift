internal import Rotation

/// One error or warning about the configuration.
package struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Hashable, Sendable {
        case error
        case warning
    }

    package let position: Position
    package let severity: Severity
    /// What is wrong; what to write instead.
    package let message: String

    package init(_ severity: Severity, at position: Position, _ message: String) {
        self.position = position
        self.severity = severity
        // Messages quote names, and a pasted key can pass for one.
        self.message = Redaction.plain(message)
    }

    /// `file:line:column: error: what is wrong; what to write instead`
    package var description: String {
        "\(position): \(severity.rawValue): \(message)"
    }
}

/// Why a configuration is not accepted.
package struct Refusal: Error, Hashable, Sendable {
    /// Errors and warnings, by file and position; at least one of them is an error.
    package let diagnostics: [Diagnostic]
    /// Whether the current user may not read one of its files: its text is unknown then.
    package var isUnreadable = false
}
