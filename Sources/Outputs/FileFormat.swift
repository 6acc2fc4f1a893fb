package import AppleClientSecret
internal import FoundationEssentials
package import Rotation

/// A secret and its public facts: the content of a slot.
package struct Secret: Sendable {
    package let token: Token
    package let issued: SecretInfo

    package init(token: Token, issued: SecretInfo) {
        self.token = token
        self.issued = issued
    }
}

/// Writes and reads back a file that is one secret.
package enum FileFormat {
    /// The JWT and nothing else: many applications take a newline at the end as part of the secret.
    package static func raw(_ secret: Secret) -> [UInt8] {
        secret.token.withBytes { $0 }
    }

    /// The token in a raw file's bytes. A newline that an editor has added does not count as drift.
    package static func tokenBytes(raw bytes: [UInt8]) -> [UInt8]? {
        plain(bytes.last == .lineFeed ? Array(bytes.dropLast()) : bytes)
    }

    /// One JSON object, one member per line in a fixed order, times in RFC 3339 UTC. No value needs escaping: the types
    /// allow no character that would.
    package static func json(_ secret: Secret) -> [UInt8] {
        let issued = secret.issued
        let head = """
            {
              "client_id": "\(issued.client)",
              "client_secret": "
            """
        let tail = """
            ",
              "key_id": "\(issued.keyID)",
              "team_id": "\(issued.team)",
              "issued_at": "\(issued.issuedAt)",
              "expires_at": "\(issued.expiresAt)"
            }

            """
        return secret.token.withBytes { Array(head.utf8) + $0 + Array(tail.utf8) }
    }

    /// The token in a JSON file's bytes, however it is laid out; nil when a member is missing or does not say what the
    /// token itself states.
    package static func tokenBytes(json bytes: [UInt8]) -> [UInt8]? {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            let token = plain(Array(document.clientSecret.utf8)),
            let claims = (try? CompactJWS(token))?.claims,
            document.clientID == claims.subject.description, document.keyID == claims.keyID.description,
            document.teamID == claims.issuer.description, document.issuedAt == claims.issuedAt.description,
            document.expiresAt == claims.expiresAt.description
        else { return nil }
        return token
    }

    /// `bytes`, if their length and characters allow a token.
    static func plain(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.isEmpty || bytes.count > Token.maximumLength || !bytes.allSatisfy(\.isTokenCharacter) ? nil : bytes
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
