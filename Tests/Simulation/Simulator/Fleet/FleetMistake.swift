import AppleClientSecret
import Failures
import Rotation

/// Mistakes that can be planted between the machines of a fleet and their surroundings. The simulator must notice each.
package enum FleetMistake: Sendable, CaseIterable {
    /// A forged secret counts as signed by the key that its key id names.
    case believesForgedSecrets
    /// A secret of another client counts as this client's.
    case believesOtherClients
    /// A secret that is put back counts as issued now.
    case believesOldOnesNew
    /// A secret of the future counts as issued now.
    case believesTheFuture
    /// No machine hears that what it is offered has changed.
    case losesNotices
    /// A read that failed is never heard of.
    case losesFailedReads
    /// A source that is gone takes the outputs with it.
    case copiesAbsence
    /// What is no secret is copied into the outputs.
    case copiesJunk
    /// What is wrong counts as missing.
    case hidesWrongSources
    /// A source that cannot be read counts as missing.
    case hidesFailedReads
    /// Health says that every client is ok.
    case claimsAllIsWell
    /// An action that was never run is reported as done.
    case skipsActions
    /// A write that never reached the disk is reported as done.
    case believesWrites
    /// Wakes by the wall clock come 40 days late.
    case latesWakes
    /// Every start renews.
    case renewsAtStart

    /// The promises that it breaks.
    package var breaks: Set<FleetPromise> {
        switch self {
        case .believesForgedSecrets, .believesOtherClients: [.genuine]
        case .believesOldOnesNew: [.forward]
        case .losesNotices, .losesFailedReads: [.fresh, .honest, .agree]
        case .copiesAbsence, .copiesJunk: [.kept]
        case .believesTheFuture, .hidesWrongSources, .hidesFailedReads, .claimsAllIsWell: [.honest]
        case .skipsActions: [.fresh, .honest]
        case .believesWrites: [.fresh, .honest, .agree]
        case .latesWakes: [.fresh]
        case .renewsAtStart: [.calm]
        }
    }

    /// The same mistake where a single machine's life knows it.
    var sabotage: Sabotage? {
        switch self {
        case .believesForgedSecrets: .believesForgedSecrets
        case .skipsActions: .skipsActions
        case .believesWrites: .believesWrites
        default: nil
        }
    }

    /// What a job finds, or what was planted instead; nil when it is never heard of.
    func twist(_ job: Job, _ result: Result<Outcome, Failure>, _ machine: Machine) -> Result<Outcome, Failure>? {
        switch (self, job.work, result) {
        case (.losesFailedReads, .readSource, .failure): return nil
        case (.hidesFailedReads, .readSource, .failure): return .success(.source(.missing))
        case (.hidesWrongSources, .readSource, .success(.source(.foreign))): return .success(.source(.missing))
        case (.copiesAbsence, .readSource, .success(.source(.missing))):
            machine.copyIntoOutputs(nil)
            return result
        case (.copiesJunk, .readSource, .success(.source(.foreign))):
            machine.copyIntoOutputs(.foreign)
            return result
        case (_, .readSource, .success(.source(.secret(let issued)))):
            return .success(.source(.secret(twist(issued, machine))))
        default: return result
        }
    }

    private func twist(_ issued: SecretInfo, _ machine: Machine) -> SecretInfo {
        switch self {
        case .believesOtherClients where issued.client != machine.clientID:
            return changed(issued, client: machine.clientID)
        case .believesOldOnesNew where machine.current.map({ issued.issuedAt < $0.issuedAt }) == true:
            return changed(issued, issuedAt: machine.now.wall)
        case .believesTheFuture where issued.issuedAt > machine.now.wall:
            return changed(issued, issuedAt: machine.now.wall)
        default: return issued
        }
    }

    private func changed(
        _ issued: SecretInfo, client: ClientID? = nil, issuedAt: WallTime? = nil
    ) -> SecretInfo {
        let claims = Claims(
            issuer: issued.team, keyID: issued.keyID, subject: client ?? issued.client,
            issuedAt: issuedAt ?? issued.issuedAt, expiresAt: issued.expiresAt)
        return SecretInfo(fingerprint: issued.fingerprint, claims: claims, signer: issued.signer)
    }
}
