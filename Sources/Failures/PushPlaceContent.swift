package import AppleClientSecret

/// The content that an API has just shown for a place, if it is not the secret that belongs there.
package enum PushPlaceContent: Hashable, Sendable {
    case nothing
    /// Something that applications cannot use as a client secret: another text, or a token whose form Apple refuses.
    case unusable
    /// Another client secret, which expires then.
    case secret(expiresAt: WallTime)
    /// Something that the API does not show.
    case something

    /// The members of a role's answer that say it; nil if they say nothing.
    ///
    /// Versions that know less see only whether there is nothing.
    package init?(_ content: PushPlaceContent?, _ members: inout JSONMembers) throws(JSONError) {
        let isEmpty = try members.orAbsent("place_empty", content.map { $0 == .nothing })
        let isUnusable = try members.flag("place_unusable", content == .unusable)
        var expiry: WallTime?
        if case .secret(let known)? = content { expiry = known }
        expiry = try members.orAbsent("place_expires_at", expiry.map(UnixTime.init))?.moment
        guard let isEmpty else { return nil }
        self = isEmpty ? .nothing : isUnusable ? .unusable : expiry.map { .secret(expiresAt: $0) } ?? .something
    }
}
