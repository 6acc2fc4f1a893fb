internal import Failures

/// One error or warning about the configuration.
package struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Hashable, Sendable {
        case error
        case warning
    }

    package let position: Position
    package let severity: Severity
    /// The problem and its correction.
    package let message: String

    package init(_ severity: Severity, at position: Position, _ message: String) {
        self.position = position
        self.severity = severity
        // Messages quote names, and a pasted key can pass for one.
        self.message = Redaction.plain(message)
    }

    /// `file:line:column: error: the problem; the correction`
    package var description: String {
        "\(position): \(severity.rawValue): \(message)"
    }
}
