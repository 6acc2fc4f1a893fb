package import Model

/// `raw`: the JWT and nothing else, without a newline, which many applications take for part of the secret.
package struct RawFormat: OutputFormat {
    package static let name = "raw"
    package static let setting: FormatSetting? = nil
    package static let isShared = false
    package static let words = "the secret and nothing else"

    package init(parameter: String?) {}

    /// The secret is also found between blanks and line breaks, as `inspect` finds it. They are to be removed.
    package func parse(_ bytes: [UInt8], slots: some Collection<Slot>) -> ParsedFile {
        let token = TokenBytes.trimmed(bytes)
        var parsed = ParsedFile(slots: [:], isExact: token == bytes)
        parsed.slots[.whole] = TokenBytes.content(token)
        return parsed
    }

    package func mayReplace(_ bytes: [UInt8]) -> Bool {
        let text = TokenBytes.trimmed(bytes)
        return text.isEmpty || TokenBytes.isClientSecret(text)
    }

    package func render(_ secrets: [Slot: RenderedSecret], into bytes: [UInt8]) -> [UInt8] {
        secrets[.whole]?.token ?? bytes
    }

    package static func candidate(in bytes: [UInt8], at slot: Slot) -> SecretCandidate? {
        slot == .whole ? .bytes(TokenBytes.trimmed(bytes)) : nil
    }
}
