/// `raw`: the JWT and nothing else, without a newline, which many applications take for part of the secret.
package struct RawFormat: OutputFormat {
    package static let name = "raw"
    package static let setting: FormatSetting? = nil
    package static let isShared = false
    package static let words = "the secret and nothing else"

    package init(parameter: String?) {}

    /// A newline that somebody's editor has added is not counted as damage.
    package func parse(_ bytes: [UInt8], places: some Collection<FormatPlace>) -> ParsedFile {
        ParsedFile(places: [.whole: TokenBytes.content(bytes.last == .lineFeed ? Array(bytes.dropLast()) : bytes)])
    }

    package func render(_ secrets: [FormatPlace: RenderedSecret], into bytes: [UInt8]) -> [UInt8] {
        secrets[.whole]?.token ?? bytes
    }

    package static func candidate(in bytes: [UInt8], at place: FormatPlace) -> SecretCandidate? {
        place == .whole ? .bytes(TokenBytes.trimmed(bytes)) : nil
    }
}
