package import Rotation

/// An accepted configuration with its warnings, positions and files.
package struct Loaded: Sendable {
    package let configuration: Configuration
    /// The warnings, sorted by file and position.
    package let warnings: [Diagnostic]
    /// Warnings about settings that this version checks but does not act on yet.
    package let notActedOn: [Diagnostic]
    package let positions: Positions
    /// The files it was read from: the main one, then those of ``directory`` in name order.
    package let sources: [SourceFile]
    /// The directory whose files may add keys and clients; it need not exist.
    package let directory: AbsolutePath

    package var files: [AbsolutePath] { sources.map(\.path) }
}
