package import AppleClientSecret
package import Failures

/// The state of a place for a secret, as an API shows it.
package struct PushPlaceReading: Hashable, Sendable {
    /// Whether the place holds the secret; nil if the API does not show it.
    package let holds: Bool?
    /// Its other content; nil if that is not known.
    package let instead: PushPlaceContent?
    /// Whether applications use the place; nil if the API does not show it.
    package let use: PushPlaceUse?

    /// How long after a write an API may still show an older state: Supabase was seen to take a minute and a half.
    package static let staleness: Seconds = 300

    package init(holds: Bool?, instead: PushPlaceContent? = nil, use: PushPlaceUse? = nil) {
        self.holds = holds
        self.instead = instead
        self.use = use
    }

    /// Its members of a role's answer.
    ///
    /// - Parameter name: that of the member which says whether the place holds the secret.
    package init(
        _ reading: PushPlaceReading?, _ members: inout JSONMembers, holdsAs name: String
    ) throws(JSONError) {
        holds = try members.orNull(name, reading?.holds)
        instead = try PushPlaceContent(reading?.instead, &members)
        use = try PushPlaceUse(reading?.use, &members)
    }
}

/// Whether applications use a place behind an API.
package enum PushPlaceUse: Hashable, Sendable {
    /// It is there, and nothing that the API shows says that it is switched off.
    case used
    /// It is switched off: no application gets its content. The text is the API's evidence, on one line and without a secret or
    /// a token.
    case unused(String)
    /// Production serves a deployment from before the last write, which has another secret. The text is as above.
    case outdated(String)

    /// The members of a role's answer that say it; nil if they say nothing.
    init?(_ use: PushPlaceUse?, _ members: inout JSONMembers) throws(JSONError) {
        let isUsed = try members.orAbsent("used", use.map { $0 == .used })
        var words: String?
        if case .unused(let known)? = use { words = known }
        words = try members.orAbsent("unused_detail", words)
        var age: String?
        if case .outdated(let known)? = use { age = known }
        age = try members.orAbsent("outdated_detail", age)
        guard let isUsed else { return nil }
        self = isUsed ? .used : age.map(PushPlaceUse.outdated) ?? .unused(words ?? "")
    }
}
