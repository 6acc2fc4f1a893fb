/// A message that ends with a command, for a place that may be unable to show every command byte for byte. A changed command that
/// root pastes would do something else. So such a place names the command that prints it.
package struct CommandMessage: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text before the command, with its introduction.
    package private(set) var lead: String
    /// Nil if the message is all words.
    package let command: String?

    /// The whole message.
    package var text: String { lead + (command ?? "") }

    /// - Parameters:
    ///   - text: on one line.
    ///   - command: the end of `text`, as in a ``Remedy``; nil if it has none.
    package init(_ text: String, command: String? = nil) {
        self.command = command.flatMap { !$0.isEmpty && text.hasSuffix($0) ? $0 : nil }
        lead = String(text.dropLast(self.command?.count ?? 0))
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// The same with other words.
    package func rewritten(_ change: (String) -> String) -> CommandMessage {
        var changed = self
        changed.lead = change(lead)
        return changed
    }

    /// The message in at most `limit` bytes, with the command if it fits and the place shows it unchanged. Text that is too long
    /// ends in "...".
    ///
    /// - Parameter isKept: whether the place shows a text unchanged.
    package func text(atMost limit: Int, keeping isKept: (String) -> Bool) -> String {
        guard let command else { return Self.cut(lead, to: limit) }
        if isKept(command), lead.utf8.count + command.utf8.count <= limit { return lead + command }
        let check = ShellCommand.check?.text ?? ""
        let isShown = isKept(check) && check.utf8.count <= Self.longestLook
        let look = isShown ? check : "clientsecretd check with its --config"
        let advice = "run \(look) as root"
        let words = lead.prefix(lead.count - lead.reversed().prefix { ":; ".contains($0) }.count)
        return words.isEmpty ? advice : Self.cut(String(words), to: limit - advice.utf8.count - 2) + "; " + advice
    }

    /// In bytes: a longer one would leave no room for the words.
    private static let longestLook = 200

    /// `text`, cut to `limit` bytes with "..." at its end when it is longer.
    package static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let mark = "..."
        var start = ""
        var room = limit - mark.utf8.count
        for character in text {
            room -= character.utf8.count
            if room < 0 { break }
            start.append(character)
        }
        return start + mark
    }
}
