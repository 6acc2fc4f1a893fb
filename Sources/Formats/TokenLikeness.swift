internal import AppleClientSecret

/// Recognises texts that may be tokens.
enum TokenLikeness {
    static func plain(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.isEmpty || bytes.count > Token.maximumLength || !bytes.allSatisfy(\.isTokenCharacter) ? nil : bytes
    }

    /// The content of a secret's place; nil if there is nothing but blanks, which is as good as no place.
    static func content(_ bytes: [UInt8]?) -> ParsedFile.Content? {
        if let bytes, bytes.allSatisfy(\.isASCIISpace) { return nil }
        return bytes.flatMap(plain).map { .token($0) } ?? .foreign
    }

    /// Whether this looks like a signed JWT in compact form, of any program: a JSON object in base64url, and two dots.
    static func isCompactJWS(_ bytes: [UInt8]) -> Bool {
        CompactJWS.seemsToBegin(bytes) && plain(bytes) != nil && bytes.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// Whether this looks like a client secret in any state, such as one that Apple refuses. It must not look like a token that
    /// another issuer has signed for another purpose.
    static func isClientSecret(_ bytes: [UInt8]) -> Bool {
        guard isCompactJWS(bytes) else { return false }
        // The original kind of a damaged token cannot be known.
        guard let stated = (try? CompactJWS(bytes))?.stated else { return true }
        return stated.issuer.value.flatMap { TeamID($0) } != nil
            || stated.audience.value?.contains { $0.contains("appleid.apple.com") } == true
    }

    /// Without the blanks around it.
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.trimming(while: \.isASCIISpace)) }
}
