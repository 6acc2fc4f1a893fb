/// Words of a shell's command line.
package enum ShellWord {
    /// `text` as one word: unquoted where no character means something to a shell, else in single quotes.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(Printable.isOfWord) { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Whether root may paste it, quoted: not if it holds characters that a terminal acts on, nor if it holds U+FFFD,
    /// which replaces bytes that are not UTF-8, so that it is another name.
    static func isPasteable(_ text: String) -> Bool {
        !text.unicodeScalars.contains { Printable.isUnprintable($0) || $0 == "\u{FFFD}" }
    }
}

/// A command line for POSIX's sh. Text interpolated into the literal becomes one word, quoted where needed; a command
/// interpolated into it becomes a part of the line.
package struct ShellCommand: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// Nil where one of its words may not be pasted.
    package let text: String?

    package init(stringLiteral text: String) {
        self.text = text
    }

    package init(stringInterpolation parts: StringInterpolation) {
        text = parts.isPasteable ? parts.text : nil
    }

    private init(text: String?) {
        self.text = text
    }

    /// This command, then `next` if this one succeeds.
    package func then(_ next: ShellCommand) -> ShellCommand {
        guard let text, let more = next.text else { return ShellCommand(text: nil) }
        return ShellCommand(text: "\(text) && \(more)")
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var isPasteable = true

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        package mutating func appendInterpolation(_ word: String) {
            isPasteable = isPasteable && ShellWord.isPasteable(word)
            text += ShellWord.quoted(word)
        }

        /// A word that a unit file or tmpfiles.d would split or change makes the command nil.
        package mutating func appendInterpolation(plain word: String) {
            isPasteable = isPasteable && !word.isEmpty && !word.contains("%") && ShellWord.quoted(word) == word
            text += word
        }

        package mutating func appendInterpolation(_ number: UInt32) {
            text += String(number)
        }

        package mutating func appendInterpolation(_ command: ShellCommand) {
            isPasteable = isPasteable && command.text != nil
            text += command.text ?? ""
        }
    }
}
