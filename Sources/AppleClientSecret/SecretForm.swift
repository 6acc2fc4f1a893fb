/// What a token of a form that Apple accepts states, and the one judgement of it: whether its client can use it, and why
/// not.
///
/// Everything that accepts, keeps, refuses or explains a secret asks here, so that no two parts of the program disagree.
package struct SecretForm: Hashable, Sendable {
    package let claims: Claims
    /// `nbf` (RFC 7519, section 4.1.5); nil where there is none.
    package let notBefore: WallTime?
    /// How it differs from what this package mints, although Apple accepts it.
    package let oddities: Set<Oddity>

    /// What Apple accepts, and this package does not mint.
    package enum Oddity: Hashable, Sendable {
        /// A time with a fraction, as Auth.js's generator writes it.
        case fractionalTime
        /// `nbf`.
        case notBefore
    }

    /// The form of a secret with these claims that this package has minted.
    package init(_ claims: Claims) {
        self.init(claims: claims, notBefore: nil, oddities: [])
    }

    fileprivate init(claims: Claims, notBefore: WallTime?, oddities: Set<Oddity>) {
        self.claims = claims
        self.notBefore = notBefore
        self.oddities = oddities
    }

    /// How far ahead of this machine's clock an `iat` may be: clocks differ.
    package static let clockTolerance: Seconds = 60

    /// Times from here on, in the year 5138, are milliseconds.
    private static let milliseconds = WallTime(secondsSinceEpoch: 100_000_000_000)

    /// What a secret has to be. What is not known is not asked for.
    package struct Expectation {
        /// Nil where it is not known.
        package var client: ClientID?
        /// The keys that may sign, in the order of preference; none where they are not known.
        package var keys: [Key]
        /// The ids of the key that has signed it; none where they are not known.
        package var signer: [Ids]

        package struct Ids: Hashable {
            package var team: TeamID
            package var keyID: KeyID

            package init(team: TeamID, keyID: KeyID) {
                self.team = team
                self.keyID = keyID
            }
        }

        package struct Key {
            package var team: TeamID
            package var keyID: KeyID
            package var signature: Signature

            package init(team: TeamID, keyID: KeyID, signature: Signature) {
                self.team = team
                self.keyID = keyID
                self.signature = signature
            }
        }

        /// Whether a key has signed the secret that is judged.
        package enum Signature: Hashable, Sendable {
            case valid
            /// Another known key has.
            case ofAnotherKey
            /// No known key has.
            case invalid
            case unchecked
        }

        package init(client: ClientID? = nil, keys: [Key] = [], signer: [Ids] = []) {
            self.client = client
            self.keys = keys
            self.signer = signer
        }
    }

    /// The place, in the order of preference, of the key that it names and that has signed it; throws the reason where it
    /// is not the client's.
    package func rank(_ expected: Expectation) throws(Objection) -> Int {
        if let client = expected.client, !client.accepts(claims.subject) { throw .otherClient(claims.subject) }
        guard !expected.keys.isEmpty else { return 0 }
        guard let rank = expected.keys.firstIndex(where: { $0.team == claims.issuer && $0.keyID == claims.keyID })
        else {
            throw expected.keys.contains { $0.team == claims.issuer }
                ? .otherKeyID(claims.keyID) : .otherTeam(claims.issuer)
        }
        switch expected.keys[rank].signature {
        case .valid, .unchecked: return rank
        case .ofAnotherKey: throw .otherKey
        case .invalid: throw .unsigned
        }
    }

    /// Why Apple refuses its times now; nil where it accepts them. Expiry is the last reason: what has merely expired was
    /// good once.
    ///
    /// - Parameters:
    ///   - kind: what it is used as; nil: what it looks like.
    ///   - tolerance: how far `iat` and `nbf` may be ahead of the clock that `reached` asks.
    ///   - reached: whether a moment has come.
    package func objectionToTimes(
        as kind: TokenKind? = nil, tolerance: Seconds = clockTolerance, reached: (WallTime) -> Bool
    ) -> Objection? {
        if max(claims.issuedAt, claims.expiresAt) >= Self.milliseconds { return .milliseconds }
        if !reached(claims.issuedAt - tolerance) { return .issuedAhead(claims.issuedAt) }
        if let notBefore, !reached(notBefore - tolerance) { return .notBefore(notBefore) }
        switch (kind ?? claims.subject.kind).rules.limit {
        case .ahead(let limit)? where !reached(claims.expiresAt - limit): return .tooLong(claims.expiresAt)
        case .afterIssue(let limit)? where claims.expiresAt - claims.issuedAt > limit:
            return .tooLongAfterIssue(claims.expiresAt, limit)
        case .ahead?, .afterIssue?, nil: break
        }
        return reached(claims.expiresAt) ? .expired(claims.expiresAt) : nil
    }

    /// Its ``rank(_:)``; throws the first reason why it is not usable now.
    package func fitness(_ expected: Expectation, reached: (WallTime) -> Bool) throws(Objection) -> Int {
        let rank = try rank(expected)
        if let objection = objectionToTimes(as: expected.client?.kind, reached: reached) { throw objection }
        return rank
    }

    /// Why Apple refuses it now; nil where it may accept it. A secret of another key of the team is no reason, because
    /// Apple accepts it as long as it knows that key. One that does not state the ids of the key that signed it is refused.
    package func refusal(_ expected: Expectation, reached: (WallTime) -> Bool) -> Objection? {
        let isMisnamed =
            !expected.signer.isEmpty
            && !expected.signer.contains(.init(team: claims.issuer, keyID: claims.keyID))
        do throws(Objection) {
            _ = try rank(expected)
            if isMisnamed { return .otherKey }
        } catch {
            if isMisnamed || !error.isOfAnotherKey { return error }
        }
        return objectionToTimes(as: expected.client?.kind, reached: reached)
    }
}

extension CompactJWS {
    /// What a token of a form that Apple accepts states; nil for any other one.
    package var form: SecretForm? {
        guard objections.isEmpty, let issuer = stated.issuer.value.flatMap({ TeamID($0) }),
            let keyID = stated.keyID.value.flatMap({ KeyID($0) }), let subject = stated.client,
            let issuedAt = stated.issuedAt.value?.moment, let expiresAt = stated.expiresAt.value?.moment
        else { return nil }
        var oddities: Set<SecretForm.Oddity> = []
        let notBefore = stated.notBefore.value?.moment
        if notBefore != nil { oddities.insert(.notBefore) }
        for case .value(.fractional) in [stated.issuedAt, stated.expiresAt] { oddities.insert(.fractionalTime) }
        return SecretForm(
            claims: Claims(
                issuer: issuer, keyID: keyID, subject: subject, issuedAt: issuedAt, expiresAt: expiresAt),
            notBefore: notBefore, oddities: oddities)
    }

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
        if let issuedAt, let expiresAt, issuedAt >= expiresAt { all.append(.endsBeforeItBegins) }
        return all
    }

    /// Why bytes are no token of a form that Apple accepts; nil where they are one.
    package static func objection(to bytes: [UInt8]) -> Objection? {
        do throws(ParseError) {
            return try CompactJWS(bytes).objections.first
        } catch {
            return .malformed(error)
        }
    }

    /// Whether the signature is ECDSA-Sig-Value (RFC 3279, section 2.2.3): a sequence of two integers.
    private var isSignedInDER: Bool {
        guard (8...72).contains(signature.count), signature[0] == 0x30, Int(signature[1]) == signature.count - 2,
            signature[2] == 0x02
        else { return false }
        let second = 4 + Int(signature[3])
        return second + 2 <= signature.count && signature[second] == 0x02
            && second + 2 + Int(signature[second + 1]) == signature.count
    }
}

extension Statement {
    /// Which kind of token it is, as far as its names tell; a client secret of Sign in with Apple where they tell nothing.
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

    /// For whom it is; nil where that is missing or of another form than its kind has.
    package var client: ClientID? {
        switch kind {
        case .signIn, .appleAds:
            return subject.value.flatMap { ClientID(identifier: $0) }.flatMap { $0.kind == kind ? $0 : nil }
        case .music:
            let known = (origins.value ?? []).compactMap { WebOrigin($0) }
            guard known.count == (origins.value ?? []).count, known.count <= WebOrigin.maximumCount else { return nil }
            return origins == .missing || !known.isEmpty ? .music(origins: known) : nil
        case .maps:
            let origin = origins.value?.first.flatMap { WebOrigin($0) }
            guard origins == .missing || origin != nil && !originIsList, scope == .missing || scope.value != nil else {
                return nil
            }
            return .maps(origin: origin, scope: scope.value)
        }
    }

    /// Whether `scope` is missing or one that Apple knows.
    fileprivate var hasKnownScope: Bool {
        scope == .missing || scope.value.map(TokenKind.maps.rules.scopes.contains) == true
    }
}
