import Glibc
import Linux
import Rotation

/// The last line of a terminal, kept below what is logged there, which says how far a long start has come.
final class ProgressLine: Sendable {
    private let descriptor: Int32
    private let shown = QuietMutex("")

    /// A start that is over sooner needs none: a second, in milliseconds.
    static let threshold: Int64 = 1_000

    /// Nil where the descriptor leads to no terminal on which a line can be drawn over.
    init?(on descriptor: Int32, environment: [String: String]) {
        guard isatty(descriptor) == 1, environment["TERM"] != "dumb" else { return nil }
        self.descriptor = descriptor
    }

    /// Shows `line` in place of the one before; the empty one takes it away.
    func show(_ line: String) {
        shown.withLock { shown in
            guard line != shown else { return }
            shown = line
            write(Self.erasure + line)
        }
    }

    /// Writes whole lines above it.
    func write(above text: String) {
        shown.withLock { shown in
            // In one write, so that nothing is seen to flicker.
            write(shown.isEmpty ? text : Self.erasure + text + shown)
        }
    }

    /// ECMA-48: back to the line's beginning, and all of it empty.
    private static let erasure = "\r\u{1B}[K"

    private func write(_ text: String) {
        Log.writeAll(Array(text.utf8), to: descriptor)
    }
}
