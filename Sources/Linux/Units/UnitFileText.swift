internal import AppleClientSecret

/// The text of a unit file (systemd.syntax(7)).
package enum UnitFileText {
    package struct Assignment: Hashable, Sendable {
        /// With its brackets, such as `[Service]`.
        package let section: String
        package let name: String
        package let value: String
        /// From 1; the first of several lines.
        package let line: Int
    }

    /// All assignments, in order. A line that ends in a backslash continues with the next one that is no comment.
    package static func assignments(in text: String) -> [Assignment] {
        func trimmed(_ text: Substring) -> String { String(text.trimming { $0 == " " || $0 == "\t" }) }
        var assignments: [Assignment] = []
        var section = ""
        var begun: (number: Int, text: String)?
        // "\r\n" is one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            let start = line.drop { $0 == " " || $0 == "\t" }
            if start.first == "#" || start.first == ";" { continue }
            let number = begun?.number ?? index + 1
            let whole = begun.map { $0.text + " " + line } ?? String(start)
            if whole.hasSuffix("\\") {
                begun = (number, String(whole.dropLast()))
                continue
            }
            begun = nil
            if whole.hasPrefix("[") {
                section = trimmed(whole[...])
            } else if let sign = whole.firstIndex(of: "=") {
                assignments.append(
                    Assignment(
                        section: section, name: trimmed(whole[..<sign]),
                        value: trimmed(whole[whole.index(after: sign)...]), line: number))
            }
        }
        return assignments
    }
}
