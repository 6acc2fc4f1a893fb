package import Model

/// `raw`: the JWT and nothing else, without a newline, which many applications treat as part of the secret.
package struct RawFormat: OutputFormat {
    package static let name = "raw"
    package static let setting: FormatSetting? = nil
    package static let isShared = false
    package static let words = "the secret and nothing else"

    package init(parameter: String?) {}

    /// The secret is also found between blanks and line breaks, as `inspect` finds it. They should be removed.
    package func parse(_ bytes: [UInt8], slots: some Collection<FileSlot>) -> ParsedFile {
        let token = TokenLikeness.trimmed(bytes)
        var parsed = ParsedFile(slots: [:], isExact: token == bytes)
        parsed.slots[.whole] = TokenLikeness.content(token)
        return parsed
    }

    package func mayReplace(_ bytes: [UInt8]) -> Bool {
        let text = TokenLikeness.trimmed(bytes)
        return text.isEmpty || TokenLikeness.isClientSecret(text)
    }

    package func render(_ secrets: [FileSlot: RenderedSecret], into bytes: [UInt8]) -> [UInt8] {
        secrets[.whole]?.token ?? bytes
    }

    package static func candidate(in bytes: [UInt8], at slot: FileSlot) -> SecretCandidate? {
        slot == .whole ? .bytes(TokenLikeness.trimmed(bytes)) : nil
    }
}
