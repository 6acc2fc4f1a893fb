/// The ten characters A–Z and 0–9 by which Apple names a private key; the `kid` of a client secret (RFC 7515,
/// section 4.1.4).
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9.
    public init?(_ text: some StringProtocol) {
        guard isTenCharacterID(text) else { return nil }
        description = String(text)
    }

    /// The id in a file name as Apple gives it to a downloaded key, `AuthKey_<KEYID>.p8`; nil for any other name.
    public init?(fileName: some StringProtocol) {
        guard fileName.hasPrefix("AuthKey_"), fileName.hasSuffix(".p8") else { return nil }
        self.init(fileName.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}
