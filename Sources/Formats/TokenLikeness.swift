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

    /// Whether a client secret is within other text, as a member of JSON or a parameter of an address. The daemon writes nothing
    /// before a token, so that text is another program's. Text behind a token may be damage to what the daemon wrote.
    static func isWithinText(_ bytes: [UInt8]) -> Bool {
        guard plain(bytes) == nil,
            let token = CompactJWS.candidates(in: bytes, upTo: CompactJWS.usualLength).first
        else { return false }
        // Quotes and written line breaks are no text.
        var isEscaped = false
        for byte in bytes[..<token.lowerBound] {
            if isEscaped {
                isEscaped = false
            } else if byte == .backslash {
                isEscaped = true
            } else if byte.isASCIIAlphanumeric {
                return true
            }
        }
        return false
    }

    /// Without the blanks around it.
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.trimming(while: \.isASCIISpace)) }
}
