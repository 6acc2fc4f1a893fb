/// The ten characters A–Z and 0–9 by which Apple names a developer team; the `iss` of a client secret.
public struct TeamID: Hashable, Sendable, CustomStringConvertible {
    /// The id as Apple shows it.
    public let description: String

    /// The id written in `text`; nil unless it is ten characters A–Z or 0–9.
    public init?(_ text: some StringProtocol) {
        guard isTenCharacterID(text) else { return nil }
        description = String(text)
    }
}

/// Apple's form of team and key ids: ten characters, each an ASCII capital or digit.
func isTenCharacterID(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 10
        && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (48...57).contains($0) }
}
