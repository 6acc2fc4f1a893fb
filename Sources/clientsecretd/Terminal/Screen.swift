/// Redraws a display in place on a terminal, without flicker: each frame is one write, every line clears only the rest
/// of its row, and nothing is erased before it is drawn over.
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
