internal import AppleClientSecret
package import Model

/// `json`: one object with `client_id` (null for the kinds without one), `client_secret`, `key_id`, `team_id`, `issued_at`
/// and `expires_at`.
package struct JSONFormat: OutputFormat {
    package static let name = "json"
    package static let setting: FormatSetting? = nil
    package static let isShared = false
    package static let words = "a JSON object"

    package init(parameter: String?) {}

    /// However the object is laid out. A wrong member is corrected at once, not with the next secret. It is missing, unknown to
    /// the format, or differs from the token's claims. Blanks and line breaks around the token are corrected too. In a file that
    /// was never written a correction would lose other members: ``mayReplace(_:)`` prevents that, and the secret still counts.
    package func parse(_ bytes: [UInt8], slots: some Collection<FileSlot>) -> ParsedFile {
        if bytes.allSatisfy(\.isASCIISpace) { return ParsedFile(slots: [:]) }
        // Of two members with one name, one reader takes the first and another the last.
        guard let document = try? JSONValue(bytes), case .object(let members) = document,
            let secret = document["client_secret"]?.text
        else { return ParsedFile(slots: [.whole: .foreign]) }
        if secret.utf8.allSatisfy(\.isASCIISpace) { return ParsedFile(slots: [:]) }
        let token = TokenLikeness.trimmed(Array(secret.utf8))
        guard let claims = (try? CompactJWS(token))?.form?.claims else {
            return ParsedFile(slots: [.whole: .foreign])
        }
        let isOurs = Self.members.isSuperset(of: members.keys)
        let isExact = isOurs && Self.states(document, claims) && token.count == secret.utf8.count
        return ParsedFile(slots: [.whole: .token(token)], otherLines: !isOurs, isExact: isExact)
    }

    /// Whether the other members agree with the token.
    private static func states(_ document: JSONValue, _ claims: Claims) -> Bool {
        SecretField.allCases.allSatisfy {
            $0 == .clientSecret || document[$0.rawValue]?.text == $0.text(of: claims)
        }
    }

    /// An object with other members is another program's.
    package func mayReplace(_ bytes: [UInt8]) -> Bool {
        if TokenLikeness.trimmed(bytes).isEmpty { return true }
        guard case .object(let members)? = try? JSONValue(bytes, duplicates: .lastCounts),
            let secret = members["client_secret"]?.text
        else { return false }
        return Self.members.isSuperset(of: members.keys)
            && TokenLikeness.isClientSecret(TokenLikeness.trimmed(Array(secret.utf8)))
    }

    private static let members = Set(SecretField.allCases.map(\.rawValue))

    /// A member to a line in a fixed order, times in RFC 3339 UTC. No value needs escaping: the types admit no character
    /// that would.
    package func render(_ secrets: [FileSlot: RenderedSecret], into bytes: [UInt8]) -> [UInt8] {
        guard let secret = secrets[.whole] else { return bytes }
        let claims = secret.claims
        let client = claims.subject.identifier.map { "\"\($0)\"" } ?? "null"
        let head = """
            {
              "client_id": \(client),
              "client_secret": "
            """
        let tail = """
            ",
              "key_id": "\(claims.keyID)",
              "team_id": "\(claims.issuer)",
              "issued_at": "\(claims.issuedAt)",
              "expires_at": "\(claims.expiresAt)"
            }

            """
        return Array(head.utf8) + secret.token + Array(tail.utf8)
    }

    /// The value of an object with any other members: other programs write objects with the secret too.
    package static func candidate(in bytes: [UInt8], at slot: FileSlot) -> SecretCandidate? {
        let text = TokenLikeness.trimmed(bytes)
        guard slot == .whole, text.first == UInt8(ascii: "{") else { return nil }
        do throws(JSONError) {
            if let secret = try JSONValue(text)["client_secret"]?.text {
                return .bytes(TokenLikeness.trimmed(Array(secret.utf8)))
            }
        } catch {
            if case .duplicate = error {
                return .missing("one name is in it twice, and one reader takes the first value, another the last")
            }
        }
        return .missing("this is not a JSON object with a \"client_secret\"")
    }
}
