/// How a child ended and what it said.
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
    /// Bytes beyond the limit, left out; a line that would have been cut is left out whole, since half a secret in it
    /// could not be told from text.
    package let truncated: Int
}
