package import AppleClientSecret
package import Failures

/// What an API shows of a place for a secret.
package struct PlaceReading: Hashable, Sendable {
    /// Whether the place holds the secret; nil where the API does not show it.
    package let holds: Bool?
    /// What it holds instead; nil where that is not known.
    package let instead: PlaceContent?
    /// Whether applications use the place; nil where the API does not show it.
    package let use: PlaceUse?

    package init(holds: Bool?, instead: PlaceContent? = nil, use: PlaceUse? = nil) {
        self.holds = holds
        self.instead = instead
        self.use = use
    }

    /// Its members of a role's answer.
    ///
    /// - Parameter name: that of the member which says whether the place holds the secret.
    package init(
        _ reading: PlaceReading?, _ members: inout JSONMembers, holdsAs name: String
    ) throws(JSONError) {
        holds = try members.orNull(name, reading?.holds)
        instead = try PlaceContent(reading?.instead, &members)
        use = try PlaceUse(reading?.use, &members)
    }
}

/// Whether applications use a place behind an API.
package enum PlaceUse: Hashable, Sendable {
    case used
    /// It is switched off: no application gets what is there. What shows it, on one line and without a secret or a token.
    case unused(String)

    /// The members of a role's answer that say it; nil where they say nothing.
    init?(_ use: PlaceUse?, _ members: inout JSONMembers) throws(JSONError) {
        let isUsed = try members.orAbsent("used", use.map { $0 == .used })
        var words: String?
        if case .unused(let known)? = use { words = known }
        words = try members.orAbsent("unused_detail", words)
        guard let isUsed else { return nil }
        self = isUsed ? .used : .unused(words ?? "")
    }
}
