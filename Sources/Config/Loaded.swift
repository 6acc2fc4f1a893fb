package import Rotation

/// A configuration that was accepted, and what there is to say about it.
package struct Loaded: Sendable {
    package let configuration: Configuration
    /// What is doubtful in it, by file and position.
    package let warnings: [Diagnostic]
    /// What is written in it that this version checks but does not act on yet.
    package let notActedOn: [Diagnostic]
    package let positions: Positions
    /// What it was read from: the main file, then those of ``directory`` in name order.
    package let sources: [SourceFile]
    /// The directory whose files may add keys and clients; it need not exist.
    package let directory: AbsolutePath

    package var files: [AbsolutePath] { sources.map(\.path) }
}
