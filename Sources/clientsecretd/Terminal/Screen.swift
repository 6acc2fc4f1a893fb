import Glibc

/// Redraws a display in place on a terminal, without flicker. Each frame is one write, every line clears only the rest of its
/// row, and nothing is erased before it is drawn over.
struct Screen {
    /// The terminal's size for the last frame; nil before the first.
    private var size: [Int]?

    /// The text that shows `lines` on `terminal`. Lines that do not fit are counted in the last one.
    mutating func frame(_ lines: [[Piece]], on terminal: Terminal) -> String {
        // The last row stays free for the cursor: a line break there would scroll the display.
        let room = max((terminal.rows ?? Terminal.assumedRows) - 1, 1)
        var shown = lines
        if lines.reduce(0, { $0 + terminal.height(of: $1) }) > room {
            var left = room - 1
            shown = Array(
                lines.prefix { line in
                    left -= terminal.height(of: line)
                    return left >= 0
                })
            shown.append([Piece("and \(lines.count - shown.count) more lines")])
        }
        // A terminal that was resized has moved its content, so everything is cleared.
        let newSize = [terminal.columns ?? 0, terminal.rows ?? 0]
        let clear = size == newSize ? "" : "\u{1B}[2J"
        size = newSize
        return clear + "\u{1B}[H" + shown.map { terminal.line($0) + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}

/// The terminal's alternate screen, without a cursor, while a display is redrawn on it.
enum FullScreen {
    static func take() {
        // Handled only to interrupt `sleep`, as the window has another size now.
        signal(SIGWINCH) { _ in }
        BorrowedTerminal.take(
            { FullScreen.write(FullScreen.entering) }, givingBack: { FullScreen.write(FullScreen.leaving) })
    }

    static func giveBack() { BorrowedTerminal.giveBack() }

    // xterm's private modes 1049, the alternate screen, and 25, the cursor. Constants, because signal handlers write them.
    private static var entering: StaticString { "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H" }
    private static var leaving: StaticString { "\u{1B}[?25h\u{1B}[?1049l" }

    private static func write(_ text: StaticString) {
        _ = unsafe Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }
}
