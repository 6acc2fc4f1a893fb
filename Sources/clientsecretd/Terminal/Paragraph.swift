/// Running text laid out for a terminal.
enum Paragraph {
    /// The narrowest text that is still wrapped at words; below it lines are as long as they are.
    static let narrowest = 16

    /// The lines of `text`, no longer than `columns` where words allow it, all but the first indented by `indent`; the
    /// first begins with the spaces that it has. A word that is
    /// longer than a line, a path for instance, stays whole so that it can be copied.
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
}
