package import Failures

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

    /// - Parameter remedy: the correction, if the message does not have it. It quotes no text of the configuration but paths, and
    ///   stays as it is: with a part of a path left out, a command could not be run.
    package init(_ severity: Severity, at position: Position, _ message: String, remedy: Remedy? = nil) {
        self.position = position
        self.severity = severity
        // Messages quote names, and a pasted key can pass for one.
        let words = Redaction.plain(message)
        self.message = remedy.map { "\(words); \($0)" } ?? words
    }

    /// `file:line:column: error: the problem; the correction`
    package var description: String {
        "\(position): \(severity.rawValue): \(message)"
    }
}
