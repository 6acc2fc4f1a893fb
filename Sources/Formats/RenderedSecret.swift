package import AppleClientSecret

/// A secret as formats write it.
package struct RenderedSecret: Sendable {
    package let token: [UInt8]
    package let claims: Claims

    package init(token: [UInt8], claims: Claims) {
        self.token = token
        self.claims = claims
    }
}

/// A part of a secret, as JSON outputs and templates call it.
enum SecretField: String, CaseIterable {
    case clientSecret = "client_secret"
    case clientID = "client_id"
    case teamID = "team_id"
    case keyID = "key_id"
    case issuedAt = "issued_at"
    case expiresAt = "expires_at"

    /// Nil for the token itself, and for the client id of the kinds without one.
    func text(of claims: Claims) -> String? {
        switch self {
        case .clientSecret: nil
        case .clientID: claims.subject.identifier
        case .teamID: claims.issuer.description
        case .keyID: claims.keyID.description
        case .issuedAt: claims.issuedAt.description
        case .expiresAt: claims.expiresAt.description
        }
    }
}
