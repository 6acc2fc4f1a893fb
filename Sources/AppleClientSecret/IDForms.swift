/// Apple's form of team and key ids: ten characters, each an ASCII capital or digit.
func isTenCharacterID(_ text: String) -> Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy { $0.isASCIICapital || $0.isASCIIDigit }
}

/// The form of the client and team ids of Apple Ads. In Apple's examples the id is a UUID.
func isSearchAdsID(_ text: String) -> Bool {
    text.hasPrefix("SEARCHADS.") && (11...ClientID.maximumLength).contains(text.utf8.count)
        && text.utf8.dropFirst("SEARCHADS.".utf8.count).allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
}

/// Five groups of hexadecimal digits (RFC 9562, section 4).
func isUUID(_ text: String) -> Bool {
    text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
        && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Hex.value(of: $0) != nil }
}
