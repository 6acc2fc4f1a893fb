/// One picture after another at the same place of a terminal, without flicker: each goes out in one write, every line
/// clears only its own rest, and nothing is erased before it is drawn over.
struct Screen {
    private var isCleared = false

    /// What to write to show `lines`; `rows` is the height of the terminal.
    mutating func frame(_ lines: [String], rows: Int) -> String {
        // The last row stays free for the cursor: a line break there would scroll the picture.
        let room = max(rows - 1, 1)
        var shown = lines
        if lines.count > room {
            shown = Array(lines.prefix(max(room - 1, 0))) + ["and \(lines.count - max(room - 1, 0)) more lines"]
        }
        let clear = isCleared ? "" : "\u{1B}[2J"
        isCleared = true
        return clear + "\u{1B}[H" + shown.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}
