/// How a child ended, and its output.
package struct ExitReport: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        case cancelled
    }

    package let ending: Ending
    /// What it wrote to standard output and error, in whole lines (the last may lack its end), without the line ends.
    package let lines: [String]
    /// Bytes left out beyond the limit. A line that would be cut is left out whole: half a secret could not be
    /// recognised in it.
    package let truncated: Int
}
