internal import AppleClientSecret
internal import FoundationEssentials

/// `json`: one object with `client_id`, `client_secret`, `key_id`, `team_id`, `issued_at` and `expires_at`.
package struct JSONFormat: OutputFormat {
    package static let name = "json"
    package static let setting: FormatSetting? = nil
    package static let isShared = false
    package static let words = "a JSON object"

    package init(parameter: String?) {}

    /// However the object is laid out. Foreign when a member is missing or does not say what the token itself states.
    package func parse(_ bytes: [UInt8], places: some Collection<FormatPlace>) -> ParsedFile {
        ParsedFile(places: [.whole: TokenBytes.content(Self.token(in: bytes))])
    }

    private static func token(in bytes: [UInt8]) -> [UInt8]? {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            let claims = (try? CompactJWS(Array(document.clientSecret.utf8)))?.claims,
            document.clientID == claims.subject.description, document.keyID == claims.keyID.description,
            document.teamID == claims.issuer.description, document.issuedAt == claims.issuedAt.description,
            document.expiresAt == claims.expiresAt.description
        else { return nil }
        return Array(document.clientSecret.utf8)
    }

    /// A member to a line in a fixed order, times in RFC 3339 UTC. No value needs escaping: the types admit no character
    /// that would.
    package func render(_ secrets: [FormatPlace: RenderedSecret], into bytes: [UInt8]) -> [UInt8] {
        guard let secret = secrets[.whole] else { return bytes }
        let claims = secret.claims
        let head = """
            {
              "client_id": "\(claims.subject)",
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

    /// Of an object, whatever else it has: other programs write objects with the secret too.
    package static func candidate(in bytes: [UInt8], at place: FormatPlace) -> SecretCandidate? {
        let text = TokenBytes.trimmed(bytes)
        guard place == .whole, text.first == UInt8(ascii: "{") else { return nil }
        guard let document = try? JSONDecoder().decode(SecretAlone.self, from: Data(text)) else {
            return .missing("this is no JSON object with a \"client_secret\"")
        }
        return .bytes(Array(document.secret.utf8))
    }

    private struct SecretAlone: Decodable {
        let secret: String

        enum CodingKeys: String, CodingKey {
            case secret = "client_secret"
        }
    }

    private struct Document: Decodable {
        let clientID: String
        let clientSecret: String
        let keyID: String
        let teamID: String
        let issuedAt: String
        let expiresAt: String

        enum CodingKeys: String, CodingKey {
            case clientID = "client_id"
            case clientSecret = "client_secret"
            case keyID = "key_id"
            case teamID = "team_id"
            case issuedAt = "issued_at"
            case expiresAt = "expires_at"
        }
    }
}
