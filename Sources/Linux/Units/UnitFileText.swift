/// The text of a unit file (systemd.syntax(7)).
package enum UnitFileText {
    /// The lines with their numbers, without comments and empty ones; one that ends in a backslash continues with the next.
    package static func lines(of text: String) -> [(number: Int, line: Substring)] {
        var lines: [(Int, Substring)] = []
        var begun: (number: Int, text: String)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " || $0 == "\t" }
            if start.first == "#" || start.first == ";" { continue }
            let number = begun?.number ?? index + 1
            let whole = begun.map { $0.text + " " + line } ?? String(start)
            if whole.hasSuffix("\\") {
                begun = (number, String(whole.dropLast()))
            } else {
                begun = nil
                if !whole.isEmpty { lines.append((number, Substring(whole))) }
            }
        }
        return lines
    }
}
