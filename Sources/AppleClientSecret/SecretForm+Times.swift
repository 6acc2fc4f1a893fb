/// The judgement of a token's times, by the clock of the machine that asks.
extension SecretForm {
    /// How far ahead of this machine's clock an `iat` may be: clocks differ.
    package static let clockTolerance: Seconds = 60

    /// Times from here on, in the year 5138, are milliseconds.
    static let milliseconds = WallTime(secondsSinceEpoch: 100_000_000_000)

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
        if max(claims.issuedAt, claims.expiresAt, notBefore ?? claims.issuedAt) >= Self.milliseconds {
            return .milliseconds
        }
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
}
