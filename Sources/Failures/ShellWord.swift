internal import AppleClientSecret

/// Words of a shell's command line.
package enum ShellWord {
    /// `text` as one word: unquoted if no character means something to a shell, else in single quotes.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(Printable.isOfWord) { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Whether root may paste it, quoted. It must not hold characters that a terminal acts on. It must also not hold U+FFFD,
    /// which replaces bytes that are not UTF-8, so that it is another name.
    static func isPasteable(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.isUnprintable || $0 == "\u{FFFD}" }
    }
}
