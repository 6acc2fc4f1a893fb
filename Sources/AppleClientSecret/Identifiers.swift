/// Apple's name for the application that a secret authenticates: a Services ID on the web, an App ID in native
/// applications; the `sub` of a client secret.
///
/// Both are reverse-DNS identifiers: ASCII letters, digits, `.`, `-` and, in old ones, `_`.
public struct ClientID: Hashable, Sendable, LosslessStringConvertible {
    /// The longest identifier that is accepted, in bytes: that of a DNS name (RFC 1035, section 2.3.4), more than any
    /// that Apple gives.
    public static let maximumLength = 255

    /// The identifier as Apple shows it.
    public let description: String

    /// The identifier written in `text`; nil when it is empty, longer than ``maximumLength`` or has another character.
    public init?(_ text: some StringProtocol) {
        // A string, because code for any text is several times as slow.
        let text = String(text)
        let allowed = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".-_".utf8.contains($0) }
        guard allowed, !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
        description = text
    }
}

/// The ten characters A–Z and 0–9 by which Apple names a private key; the `kid` of a client secret (RFC 7515,
/// section 4.1.4).
public struct KeyID: Hashable, Sendable, LosslessStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isTenCharacterID(text) else { return nil }
        description = text
    }

    /// The id in a file name as Apple gives it to a downloaded key, `AuthKey_<KEYID>.p8`; nil for any other name.
    public init?(fileName: some StringProtocol) {
        guard fileName.hasPrefix("AuthKey_"), fileName.hasSuffix(".p8") else { return nil }
        self.init(fileName.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}

/// The ten characters A–Z and 0–9 by which Apple names a developer team; the `iss` of a client secret.
public struct TeamID: Hashable, Sendable, LosslessStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isTenCharacterID(text) else { return nil }
        description = text
    }
}

/// Apple's form of team and key ids: ten characters, each an ASCII capital or digit.
func isTenCharacterID(_ text: String) -> Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy { $0.isASCIICapital || $0.isASCIIDigit }
}
