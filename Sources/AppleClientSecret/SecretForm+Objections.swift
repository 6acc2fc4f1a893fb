/// The judgement of a token's content: its ids and its key, then its times.
extension SecretForm {
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
