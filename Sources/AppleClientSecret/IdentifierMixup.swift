/// An Apple id in the place of another one.
package enum IdentifierMixup: Hashable, Sendable {
    case clientIsTeam
    case clientIsKeyID
    case teamIsKeyID
    /// An App ID with the team in front of it, as provisioning profiles show it.
    case clientHasTeamPrefix

    /// The first id that is in another one's place; nil if none does.
    package init?(client: ClientID?, team: TeamID, keyID: KeyID) {
        // Apple Ads gives a team and its client the same id.
        if team.form == .searchAds { return nil }
        if team.description == keyID.description {
            self = .teamIsKeyID
        } else if client?.description == team.description {
            self = .clientIsTeam
        } else if client?.description == keyID.description {
            self = .clientIsKeyID
        } else if client?.description.hasPrefix("\(team).") == true {
            self = .clientHasTeamPrefix
        } else {
            return nil
        }
    }

    /// The problem, as the end of a sentence that begins with "it".
    package var words: String {
        switch self {
        case .clientIsTeam: "has the team id as its client id"
        case .clientIsKeyID: "has the key id as its client id"
        case .teamIsKeyID: "has one id as team id and as key id"
        case .clientHasTeamPrefix: "has the team id in front of its client id"
        }
    }
}
