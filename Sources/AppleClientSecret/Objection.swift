/// Why a secret is not one that its client can use: Apple refuses it, or it is not the configured key's.
///
/// The words come after the place that holds the secret, as "it …". They quote nothing of the token that is not an id or
/// a time.
package enum Objection: Error, Hashable, Sendable {
    // MARK: The token's form

    /// It is no token.
    case malformed(CompactJWS.ParseError)
    /// A name occurs twice in it.
    case duplicate
    /// `alg` is missing or another one than ES256.
    case algorithm
    /// The signature is an ASN.1 structure, as `openssl dgst` writes it, and not two numbers of 32 bytes.
    case derSignature
    /// The signature's length in bytes, if it is not 64.
    case signatureLength(Int)
    /// The header has `crit`.
    case critical
    /// A parameter or claim that is missing, or has no value of the right kind.
    case unstated(String)
    /// An id is in another one's place.
    case mixup(IdentifierMixup)
    /// `aud` is not Apple's.
    case audience
    /// `aud` is a list.
    case audienceList
    /// `exp` is not later than `iat`.
    case endsBeforeItBegins

    // MARK: Its times

    /// A time in milliseconds.
    case milliseconds
    /// `iat` is in the future.
    case issuedAhead(WallTime)
    /// `nbf` is in the future.
    case notBefore(WallTime)
    /// `exp` is later than Apple allows.
    case tooLong(WallTime)
    /// `exp` is more than this after `iat`, which is more than Apple allows.
    case tooLongAfterIssue(WallTime, Seconds)
    case expired(WallTime)

    // MARK: Whose it is

    case otherClient(ClientID)
    case otherTeam(TeamID)
    case otherKeyID(KeyID)
    /// A known key has signed it, but not the one that belongs to its ids now.
    case otherKey
    /// No known key has signed it.
    case unsigned

    /// Whether Apple may still accept it: a team can have several keys.
    package var isOfAnotherKey: Bool {
        switch self {
        case .otherTeam, .otherKeyID, .otherKey: true
        default: false
        }
    }

    /// Whether it is about the secret's times, and so only as right as the clock.
    package var isAboutTime: Bool {
        switch self {
        case .milliseconds, .issuedAhead, .notBefore, .tooLong, .tooLongAfterIssue, .expired: true
        default: false
        }
    }

    /// The problem, as the end of a sentence that begins with "it".
    package var words: String {
        switch self {
        case .malformed(let parseError): "is not a client secret: \(parseError.words)"
        case .duplicate: "has a name twice, so that two readers may see different values"
        case .algorithm: "is not signed with ES256"
        case .derSignature:
            "has a DER signature, as \"openssl dgst\" writes it; a JWT's consists of two numbers of 32 bytes"
        case .signatureLength(let count):
            "has a signature of \(count) bytes; ES256's has \(CompactJWS.signatureLength)"
        case .critical: "has \"crit\" in its header, which Apple does not know"
        case .unstated(let name): "has no valid \"\(name)\""
        case .mixup(let mixup): mixup.words
        case .audience: "is not for \(Claims.audience) (\"aud\")"
        case .audienceList: "has a list as \"aud\"; Apple accepts only the text \(Claims.audience)"
        case .endsBeforeItBegins: "expires before it was issued"
        case .milliseconds: "has its times in milliseconds; Apple wants seconds"
        case .issuedAhead(let moment): "was issued in the future, at \(moment)"
        case .notBefore(let moment): "is not valid before \(moment)"
        case .tooLong(let moment):
            "expires at \(moment), more than \(Lifetime.appleLimit.count) seconds (six months) ahead"
        case .tooLongAfterIssue(let moment, let limit):
            "expires at \(moment), more than \(limit.count) seconds (\(limit.count / 86_400) days) after it was issued"
        case .expired(let moment): "expired at \(moment)"
        case .otherClient(let client): "is for \(client.words)"
        case .otherTeam(let id): "is of team \(id)"
        case .otherKeyID(let id): "is of key id \(id)"
        case .otherKey: "was not signed by the key that its key id names"
        case .unsigned: "was not signed by the key"
        }
    }
}

extension CompactJWS.ParseError {
    /// The problem, as a complete clause.
    package var words: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong: "it is longer than \(Token.maximumLength) bytes"
        case .notThreeParts: "it does not have three parts separated by dots"
        case .notBase64URL(let part): "its \(part.rawValue) is not base64url without padding"
        case .notJSONObject(let part): "its \(part.rawValue) is not a JSON object"
        }
    }
}
