package import AppleClientSecret

/// Whose secrets they are, whatever key has signed them: by this machines know each other's clients, whose names in the
/// configuration may differ.
package struct ClientIdentity: Hashable, Sendable {
    package let team: TeamID
    package let client: ClientID

    package init(team: TeamID, client: ClientID) {
        self.team = team
        self.client = client
    }
}
