/// One picture after another at the same place of a terminal, without flicker: each goes out in one write, every line
/// clears only its own rest, and nothing is erased before it is drawn over.
struct Screen {
    /// The size that the last picture was drawn for; nil before the first.
    private var size: [Int]?

    /// What to write to show `lines` on `terminal`. Lines that do not fit are counted in the last one.
    mutating func frame(_ lines: [[Piece]], on terminal: Terminal) -> String {
        // The last row stays free for the cursor: a line break there would scroll the picture.
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
        // A terminal of another size has moved what stood there.
        let newSize = [terminal.columns ?? 0, terminal.rows ?? 0]
        let clear = size == newSize ? "" : "\u{1B}[2J"
        size = newSize
        return clear + "\u{1B}[H" + shown.map { terminal.line($0) + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}
