import AppleClientSecret

/// Text as `init` writes it into YAML.
enum YAMLText {
    /// A scalar (YAML 1.2, chapter 7). It is plain if no character has a meaning in YAML, else in single quotes, in which only
    /// the quote itself has one. Paths and names hold no line break.
    static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "/._-".utf8.contains($0) }
        guard !isPlain || text.isEmpty || text.hasPrefix("-") || text.hasPrefix(".") else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
