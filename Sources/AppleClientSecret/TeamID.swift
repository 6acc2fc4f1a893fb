/// Apple's name for a team; the `iss` of a token. It has ten characters A–Z and 0–9, or is `SEARCHADS.` and an id (Apple Ads).
public struct TeamID: Hashable, Sendable, LosslessStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9, or `SEARCHADS.` and an id.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isTenCharacterID(text) || isSearchAdsID(text) else { return nil }
        description = text
    }

    /// The form that the id has.
    package var form: TokenKind.IDForm { isTenCharacterID(description) ? .tenCharacters : .searchAds }
}
