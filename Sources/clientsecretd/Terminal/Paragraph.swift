import Failures

/// Wraps text for a terminal.
enum Paragraph {
    /// The fewest columns, without the indent, at which text is wrapped; below that it stays one line.
    static let narrowest = 16

    /// `text` wrapped at words to `columns`; the first line keeps its leading spaces, the others are indented by
    /// `indent`. A word that is longer than a line, a path for instance, stays whole so that it can be copied.
    static func lines(_ text: String, columns: Int?, indent: Int = 2) -> [String] {
        guard let columns, columns >= narrowest + indent else { return [text] }
        var lines: [String] = []
        var line = ""
        let lead = text.prefix { $0 == " " }
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = (lines.isEmpty ? String(lead) : String(repeating: " ", count: indent)) + word
            } else if line.count + 1 + word.count <= columns {
                line += " " + word
            } else {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            }
        }
        return lines + [line]
    }

    /// The same for a line of a report: if it is wrapped, its command stays whole on a separate line. A command that `terminal`
    /// cannot show is left to `check`.
    static func lines(_ line: CommandMessage, on terminal: Terminal, indent: Int = 2) -> [String] {
        guard let command = line.command else { return lines(line.text, columns: terminal.columns, indent: indent) }
        let keeps = { (text: String) in terminal.shown(text) == text }
        guard keeps(command) else {
            return lines(line.text(atMost: .max, keeping: keeps), columns: terminal.columns, indent: indent)
        }
        guard let columns = terminal.columns, line.text.count > columns else { return [line.text] }
        return lines(line.lead, columns: columns, indent: indent) + [String(repeating: " ", count: indent) + command]
    }
}
