extension CompactJWS {
    /// Whether algorithm and length are those of ES256 (RFC 7518, section 3.4).
    package var isES256: Bool { stated.algorithm == .value("ES256") && signature.count == Self.signatureLength }

    /// Everything in the token's form for which Apple refuses it, the gravest first; its times and its signature's value
    /// are not looked at.
    package var objections: [Objection] {
        var all: [Objection] = []
        if stated.algorithm != .value("ES256") { all.append(.algorithm) }
        if signature.count != Self.signatureLength {
            all.append(isSignedInDER ? .derSignature : .signatureLength(signature.count))
        }
        if stated.duplicateName != nil { all.append(.duplicate) }
        if stated.otherHeaderNames.contains("crit") { all.append(.critical) }
        let rules = stated.kind.rules
        let keyID = stated.keyID.value.flatMap { KeyID($0) }
        let team = stated.issuer.value.flatMap { TeamID($0) }
        let client = stated.client
        if keyID?.form != rules.ids { all.append(.unstated("kid")) }
        if team?.form != rules.ids { all.append(.unstated("iss")) }
        if rules.audience != nil, client == nil { all.append(.unstated("sub")) }
        if let team, let keyID, let mixup = IdentifierMixup(client: client, team: team, keyID: keyID) {
            all.append(.mixup(mixup))
        }
        if let audience = rules.audience {
            if stated.audienceIsList {
                all.append(.audienceList)
            } else if stated.audience != .value([audience]) {
                all.append(.audience)
            }
        } else if client == nil {
            all.append(.unstated(stated.hasKnownScope ? "origin" : "scope"))
        }
        let issuedAt = stated.issuedAt.value?.moment
        let expiresAt = stated.expiresAt.value?.moment
        if issuedAt == nil { all.append(.unstated("iat")) }
        if expiresAt == nil { all.append(.unstated("exp")) }
        if stated.notBefore != .missing, stated.notBefore.value?.moment == nil { all.append(.unstated("nbf")) }
        if let issuedAt, let expiresAt, issuedAt >= expiresAt {
            all.append(issuedAt >= SecretForm.milliseconds ? .milliseconds : .endsBeforeItBegins)
        }
        return all
    }

    /// Why bytes are no token of a form that Apple accepts; nil if they are one.
    package static func objection(to bytes: [UInt8]) -> Objection? {
        do throws(ParseError) {
            return try CompactJWS(bytes).objections.first
        } catch {
            return .malformed(error)
        }
    }
}

extension Statement {
    /// Whether `scope` is missing or one that Apple knows.
    fileprivate var hasKnownScope: Bool {
        scope == .missing || scope.value.map(TokenKind.maps.rules.scopes.contains) == true
    }
}
