/// How a child ended, and its output.
package struct ExitReport: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        case cancelled
    }

    package let ending: Ending
    /// The beginning of its standard output and error; all of it if nothing was omitted.
    package let first: OutputPiece
    /// How many lines were omitted between ``first`` and ``last``.
    package let omitted: Int
    /// The end of its output.
    package let last: OutputPiece

    /// The lines of both pieces.
    package var lines: [String] { Array(first.lines[first.shown]) + Array(last.lines[last.shown]) }
}
