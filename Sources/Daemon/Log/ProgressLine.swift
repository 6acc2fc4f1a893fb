import Glibc
import Linux
import Model

/// The progress of a long start, on a terminal's last line below the log.
final class ProgressLine: Sendable {
    private let descriptor: Int32
    private let shown = QuietMutex("")

    /// In milliseconds: a start that takes no longer than a second shows none.
    static let threshold: Int64 = 1_000

    /// Nil if the descriptor is no terminal that can overwrite a line.
    init?(on descriptor: Int32, environment: [String: String]) {
        guard isatty(descriptor) == 1, environment["TERM"] != "dumb" else { return nil }
        self.descriptor = descriptor
    }

    /// Shows `line` in place of the one before; an empty one removes it.
    func show(_ line: String) {
        shown.withLock { shown in
            // A terminal may be stopped (Ctrl-S). Then it is tried again with the next one.
            guard line != shown, Descriptor.waitUntilWritable(descriptor, atMost: 0) else { return }
            shown = line
            write(Self.erasure + line)
        }
    }

    /// Writes whole lines above the progress.
    func write(above text: String) {
        shown.withLock { shown in
            // In one write, so that nothing flickers.
            write(shown.isEmpty ? text : Self.erasure + text + shown)
        }
    }

    /// ECMA-48: back to the line's beginning, then erase the line.
    private static let erasure = "\r\u{1B}[K"

    private func write(_ text: String) {
        _ = Descriptor.write(text.utf8, to: descriptor)
    }
}
