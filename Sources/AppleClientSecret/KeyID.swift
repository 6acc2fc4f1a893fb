/// Apple's name for a private key; the `kid` of a token (RFC 7515, section 4.1.4). It has ten characters A–Z and 0–9, or is a
/// UUID (Apple Ads).
public struct KeyID: Hashable, Sendable, LosslessStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9, or a UUID.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isTenCharacterID(text) || isUUID(text) else { return nil }
        description = text
    }

    /// The id in a file name as Apple gives it to a downloaded key, `AuthKey_<KEYID>.p8`; nil for any other name.
    public init?(fileName: some StringProtocol) {
        guard fileName.hasPrefix("AuthKey_"), fileName.hasSuffix(".p8") else { return nil }
        let text = String(fileName.dropFirst("AuthKey_".count).dropLast(".p8".count))
        guard isTenCharacterID(text) else { return nil }
        description = text
    }

    /// The form that the id has.
    package var form: TokenKind.IDForm { isTenCharacterID(description) ? .tenCharacters : .searchAds }
}
