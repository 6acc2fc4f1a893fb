/// The claims of a token, in the words of RFC 7519 and Apple's "Creating a client secret".
public struct Claims: Hashable, Sendable {
    /// The only audience that Apple accepts of the kinds that state one.
    public static let audience = "https://appleid.apple.com"

    /// How far `iat` is before the moment of minting: clocks differ, and an `iat` that Apple's clock has not reached
    /// yet is refused.
    public static let backdating: Seconds = 60

    /// `iss`: the team that the key belongs to.
    public let issuer: TeamID
    /// `kid` of the header: the key that signs.
    public let keyID: KeyID
    /// The client that the secret authenticates (`sub`), or the purpose of another token.
    public let subject: ClientID
    /// `iat`: ``backdating`` before the secret was minted.
    public let issuedAt: WallTime
    /// `exp`: the first moment at which the secret is no longer valid.
    public let expiresAt: WallTime

    /// The claims of a secret minted at `now`: `iat` is back-dated, `exp` is counted from `now` itself.
    public init(issuer: TeamID, keyID: KeyID, subject: ClientID, now: WallTime, lifetime: Lifetime) {
        self.init(
            issuer: issuer, keyID: keyID, subject: subject, issuedAt: now - Self.backdating,
            expiresAt: now + lifetime.seconds)
    }

    /// The claims with these values, unchecked.
    public init(issuer: TeamID, keyID: KeyID, subject: ClientID, issuedAt: WallTime, expiresAt: WallTime) {
        self.issuer = issuer
        self.keyID = keyID
        self.subject = subject
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
