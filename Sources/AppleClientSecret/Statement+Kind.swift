extension Statement {
    /// Which kind of token it is, as far as its names tell; a client secret of Sign in with Apple if they show nothing.
    ///
    /// Without an origin and a scope, MusicKit's and MapKit's differ only in `typ`, which other programs may write into
    /// either.
    package var kind: TokenKind {
        let ids = [issuer.value.flatMap { TeamID($0)?.form }, keyID.value.flatMap { KeyID($0)?.form }]
        if subject != .missing || audience != .missing || ids != [.tenCharacters, .tenCharacters] {
            return subject.value.map(isSearchAdsID) == true || ids.contains(.searchAds) ? .appleAds : .signIn
        }
        if scope != .missing { return .maps }
        return origins == .missing ? (type == .missing ? .music : .maps) : (originIsList ? .music : .maps)
    }

    /// The client that it authenticates; nil if that is missing or malformed for its kind.
    package var client: ClientID? { client(readingOrigins: { WebOrigin($0) }) }

    /// The same, with its origins as browsers send them, in whichever form they are stated; nil also if one is no page's origin.
    package var clientOfPages: ClientID? { client(readingOrigins: { WebOrigin(meantBy: $0) }) }

    private func client(readingOrigins origin: (String) -> WebOrigin?) -> ClientID? {
        switch kind {
        case .signIn, .appleAds:
            return subject.value.flatMap { ClientID(identifier: $0) }.flatMap { $0.kind == kind ? $0 : nil }
        case .music:
            let known = (origins.value ?? []).compactMap(origin)
            guard known.count == (origins.value ?? []).count, known.count <= WebOrigin.maximumCount else { return nil }
            return origins == .missing || !known.isEmpty ? .music(origins: known) : nil
        case .maps:
            let known = origins.value?.first.flatMap(origin)
            guard origins == .missing || known != nil && !originIsList, scope == .missing || scope.value != nil else {
                return nil
            }
            return .maps(origin: known, scope: scope.value)
        }
    }
}
