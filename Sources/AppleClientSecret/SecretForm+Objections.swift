/// The judgement of a token's content: its ids, its key and its times.
extension SecretForm {
    /// How far ahead of this machine's clock an `iat` may be: clocks differ.
    package static let clockTolerance: Seconds = 60

    /// Times from here on, in the year 5138, are milliseconds.
    private static let milliseconds = WallTime(secondsSinceEpoch: 100_000_000_000)

    /// The place, in the order of preference, of the key that it names and that has signed it. Throws the reason if it is not the
    /// client's secret.
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

    /// Why Apple refuses its times now; nil if it accepts them. Expiry is the last reason, because a secret that has only expired
    /// was good once.
    ///
    /// - Parameters:
    ///   - kind: the kind that it is used as; nil: the kind that it looks like.
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

    /// The first reason why its client cannot use it now; nil if it can.
    package func objection(_ expected: Expectation, reached: (WallTime) -> Bool) -> Objection? {
        do throws(Objection) { _ = try rank(expected) } catch { return error }
        return objectionToTimes(as: expected.client?.kind, reached: reached)
    }

    /// Why Apple refuses it now; nil if it may accept it. A secret of another key of the team is no reason, because
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
