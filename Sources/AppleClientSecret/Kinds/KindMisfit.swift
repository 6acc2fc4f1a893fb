/// A setting that does not fit a token's kind, and the remedy.
///
/// The words call settings as the configuration does.
package enum KindMisfit: Error, Hashable, Sendable {
    case noClientID(TokenKind)
    case clientIDNotTaken(TokenKind)
    case clientID(ClientID, TokenKind)
    case team(TeamID, TokenKind)
    case keyID(KeyID, TokenKind)
    case originNotTaken(TokenKind)
    case severalOrigins(TokenKind)
    case scopeNotTaken(TokenKind)
    case unknownScope(String, TokenKind)

    /// The setting that it is about, as the configuration calls it.
    package var setting: String {
        switch self {
        case .noClientID, .clientIDNotTaken, .clientID: "client_id"
        case .team: "team_id"
        case .keyID: "key_id"
        case .originNotTaken, .severalOrigins: "origin"
        case .scopeNotTaken, .unknownScope: "scope"
        }
    }

    /// The problem and the remedy; a sentence without its end.
    package var words: String {
        switch self {
        case .noClientID(let kind):
            "kind \(kind) needs the client id from Apple Ads, which begins with SEARCHADS.; write \"client_id\""
        case .clientIDNotTaken(let kind):
            "a token of kind \(kind) has no client id; remove \"client_id\""
        case .clientID(let client, let kind):
            "client id \(client) fits kind \(client.kind), not \(kind); write \"kind: \(client.kind)\", or "
                + (kind == .appleAds
                    ? "the client id from Apple Ads, which begins with SEARCHADS."
                    : "the Services ID or App ID, such as com.example.web")
        case .team(let team, let kind):
            "team id \(team) fits kind \(Self.kinds(with: team.form)), not \(kind)"
        case .keyID(let keyID, let kind):
            "key id \(keyID) fits kind \(Self.kinds(with: keyID.form)), not \(kind)"
        case .originNotTaken(let kind):
            "a token of kind \(kind) has no origin, unlike \(Self.kinds { $0.rules.origins != .none }); remove \"origin\""
        case .severalOrigins(let kind):
            "a token of kind \(kind) has one origin; write one client for each"
        case .scopeNotTaken(let kind):
            "a token of kind \(kind) has no scope, unlike \(Self.kinds { !$0.rules.scopes.isEmpty }); remove \"scope\""
        case .unknownScope(let scope, let kind):
            "\"\(scope)\" is not a scope of kind \(kind); write \(kind.rules.scopes.joined(separator: " or "))"
        }
    }

    private static func kinds(with form: TokenKind.IDForm) -> String { kinds { $0.rules.ids == form } }

    private static func kinds(where isMeant: (TokenKind) -> Bool) -> String {
        alternatives(TokenKind.allCases.filter(isMeant).map(\.rawValue))
    }
}

extension TokenKind {
    /// The subjects of tokens with these settings.
    ///
    /// - Parameter client: the identifier that is given; nil if none is.
    package func client(
        _ client: ClientID?, origins: [WebOrigin], scope: String?
    ) throws(KindMisfit) -> ClientID {
        if rules.origins == .none, !origins.isEmpty { throw .originNotTaken(self) }
        if rules.origins == .one, origins.count > 1 { throw .severalOrigins(self) }
        if let scope {
            if rules.scopes.isEmpty { throw .scopeNotTaken(self) }
            if !rules.scopes.contains(scope) { throw .unknownScope(scope, self) }
        }
        if hasClient {
            guard let client else { throw .noClientID(self) }
            guard client.kind == self else { throw .clientID(client, self) }
            return client
        }
        guard client == nil else { throw .clientIDNotTaken(self) }
        guard let other = self == .music ? .music(origins: origins) : ClientID.maps(origin: origins.first, scope: scope)
        else { throw .unknownScope(scope ?? "", self) }
        return other
    }

    /// Why the ids of a team and its key are not of this kind; nil if they are.
    package func misfit(team: TeamID, keyID: KeyID) -> KindMisfit? {
        if team.form != rules.ids { return .team(team, self) }
        return keyID.form == rules.ids ? nil : .keyID(keyID, self)
    }
}
