import AppleClientSecret
import Failures
import Model
import Rotation

/// Mistakes that can be planted between the machines of a fleet and their surroundings.
package enum FleetMistake: PlantedMistake {
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
    // Around a store.
    /// A put replaces whatever lies there.
    case putsWithoutCompare
    /// A put that failed is never heard of.
    case forgetsFailedPuts
    /// That somebody was first is taken for a failure, and put again and again.
    case repeatsConflicts
    /// What other signers have put is not seen.
    case hidesOtherSigners
    /// The first answer of the store comes too late.
    case mintsBeforeStoreAnswers
    /// No machine hears what a watch tells of.
    case losesHints
    /// What a watch tells of is copied into the outputs.
    case believesHints
    /// An emptied store takes the outputs with it.
    case copiesEmptiedStore
    /// An earlier secret in a restored store counts as issued now.
    case believesRestoredSecrets
    /// A forged secret counts as signed by the key of its place.
    case believesForgedValues
    /// What is no secret, or too long, counts as missing.
    case hidesForeignValues
    /// A read of the store that failed is never heard of.
    case losesFailedStoreReads
    /// A store that is not reached counts as empty.
    case hidesUnreachableStore
    /// Forbidden places count as empty.
    case hidesForbiddenPlaces
    /// A report is said to be put, and is not.
    case losesReports
    /// A report that was put without an answer counts as another machine's.
    case knowsNoOwnReport
    /// Machines that are gone stay listed.
    case neverForgetsReports
    /// Silent machines are never counted as such.
    case hidesSilence
    // Around a store with rollouts.
    /// A signer's rollout admits everybody at once.
    case admitsAllAtOnce
    /// A signer to which no machine reports admits all.
    case releasesTheUnknown
    /// No signer remembers after a restart which machines there were.
    case forgetsFleet
    /// Canaries are watched for a second.
    case forgetsPause
    /// A rollout replaces whatever lies there.
    case raisesWithoutCompare
    /// No report says that a machine fails.
    case hidesFailingMachines
    /// A signer takes a held rollout for one that is going.
    case resumesByItself
    /// A follower takes a held rollout for one that admits everybody.
    case ignoresHeld
    /// A rollout that is gone admits everybody.
    case releasesWhenEmptied
    /// A rollout of another secret counts as one of this.
    case believesOtherRollouts
    /// Nothing is delivered by a machine that is not admitted.
    case holdsPastDeadline
    /// That a rollout is held is said by nobody.
    case hidesHeld

    /// How secrets are handed on where it is planted.
    var kind: FleetKind { traits.kind }

    package var breaks: Set<FleetPromise> { traits.breaks }

    private var traits: (kind: FleetKind, breaks: Set<FleetPromise>) {
        switch self {
        case .believesForgedSecrets, .believesOtherClients: (.files, [.genuine])
        case .believesOldOnesNew: (.files, [.forward])
        case .losesNotices, .losesFailedReads, .believesWrites: (.files, [.fresh, .honest, .agree])
        case .copiesAbsence, .copiesJunk: (.files, [.kept])
        case .believesTheFuture, .hidesWrongSources, .hidesFailedReads, .claimsAllIsWell: (.files, [.honest])
        case .skipsActions: (.files, [.fresh, .honest])
        case .latesWakes: (.files, [.fresh])
        case .renewsAtStart: (.files, [.calm])
        case .putsWithoutCompare, .believesRestoredSecrets: (.store, [.forward])
        case .forgetsFailedPuts: (.store, [.agree])
        case .repeatsConflicts, .mintsBeforeStoreAnswers: (.store, [.calm])
        case .hidesOtherSigners: (.store, [.agree, .calm, .forward])
        case .losesHints: (.store, [.fresh])
        case .believesHints: (.store, [.forward, .genuine, .kept])
        case .copiesEmptiedStore: (.store, [.kept])
        case .believesForgedValues: (.store, [.genuine])
        case .losesFailedStoreReads: (.store, [.agree, .fresh, .honest])
        case .hidesForeignValues, .hidesUnreachableStore, .hidesForbiddenPlaces, .losesReports, .knowsNoOwnReport,
            .neverForgetsReports, .hidesSilence:
            (.store, [.honest])
        case .admitsAllAtOnce, .releasesTheUnknown, .forgetsFleet, .forgetsPause: (.rollouts, [.bounded])
        case .raisesWithoutCompare, .hidesFailingMachines, .resumesByItself, .ignoresHeld, .releasesWhenEmptied,
            .believesOtherRollouts:
            (.rollouts, [.held])
        case .holdsPastDeadline: (.rollouts, [.fresh])
        case .hidesHeld: (.rollouts, [.honest])
        }
    }

    /// The same mistake where a single machine's life knows it.
    var sabotage: Sabotage? {
        switch self {
        case .believesForgedSecrets, .believesForgedValues: .believesForgedSecrets
        case .skipsActions: .skipsActions
        case .believesWrites: .believesWrites
        case .latesWakes: .latesWakes
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
        case (.forgetsFleet, _, .success(.recalled(var record))):
            record.fleet = []
            return .success(.recalled(record))
        default: return twistOnStore(job, result, machine)
        }
    }

    private func twistOnStore(
        _ job: Job, _ result: Result<Outcome, Failure>, _ machine: Machine
    ) -> Result<Outcome, Failure>? {
        switch (self, job.work, result) {
        case (.forgetsFailedPuts, .putInStore, .failure), (.losesFailedStoreReads, .readStore, .failure): return nil
        case (.repeatsConflicts, .putInStore, .success(.putInStore(.conflict))):
            return .failure(Failure(.storeTimedOut, at: .store))
        case (.hidesOtherSigners, .putInStore, .success(.putInStore(.conflict))):
            return .success(.putInStore(.conflict(.missing)))
        case (.hidesUnreachableStore, .readStore(let places), .failure):
            return .success(.storeRead(places.reduce(into: [:]) { $0[$1] = .missing }))
        case (.hidesSilence, _, .success(.reportsRead(let found))):
            // Each of them has just reported anew.
            return .success(
                .reportsRead(
                    found.mapValues {
                        ReportObservation(revision: machine.boot, report: $0.report, isOwn: $0.isOwn)
                    }))
        case (.hidesFailingMachines, _, .success(.reportsRead(let found))):
            return .success(.reportsRead(found.mapValues(healed)))
        case (_, .readStore, .success(.storeRead(let found, let rollouts))):
            if self == .copiesEmptiedStore, !found.values.contains(where: { $0 != .missing }) {
                machine.copyIntoOutputs(nil)
            }
            return .success(
                .storeRead(found.mapValues { twist($0, machine) }, rollouts: twist(rollouts, found, machine)))
        default: return result
        }
    }

    private func healed(_ found: ReportObservation) -> ReportObservation {
        var report = found.report
        report?.clients =
            found.report?.clients.mapValues { holding in
                var holding = holding
                holding.failure = nil
                return holding
            } ?? [:]
        return ReportObservation(revision: found.revision, report: report, isOwn: found.isOwn)
    }

    private func twist(
        _ rollouts: [StorePlace: RolloutObservation], _ found: [StorePlace: StoreObservation], _ machine: Machine
    ) -> [StorePlace: RolloutObservation] {
        found.reduce(into: rollouts) { rollouts, entry in
            guard case .secret(let secret, let revision) = entry.value else { return }
            switch (self, rollouts[entry.key]) {
            case (.releasesWhenEmptied, nil) where !machine.isSigner:
                let finished = Rollout(of: secret.name, admitted: .max)
                rollouts[entry.key] = .rollout(finished, revision: revision)
            case (_, .rollout(let rollout, let revision)):
                rollouts[entry.key] = .rollout(twist(rollout, of: secret, machine), revision: revision)
            default: break
            }
        }
    }

    private func twist(_ found: Rollout, of secret: SecretInfo, _ machine: Machine) -> Rollout {
        var rollout = found
        switch self {
        case .resumesByItself where machine.isSigner: rollout.state = .going
        case .ignoresHeld where !machine.isSigner && found.state == .held: rollout.admitted = .max
        case .believesOtherRollouts where !machine.isSigner:
            rollout = Rollout(
                of: secret.name, admitted: found.admitted, state: found.state,
                tolerated: found.tolerated)
        default: break
        }
        return rollout
    }

    private func twist(_ found: StoreObservation, _ machine: Machine) -> StoreObservation {
        switch (self, found) {
        case (.hidesForeignValues, .foreign), (.hidesForbiddenPlaces, .forbidden): return .missing
        case (.hidesOtherSigners, .secret(let issued, _)) where machine.isSigner && issued != machine.current:
            return .missing
        case (.believesRestoredSecrets, .secret(let issued, let revision))
        where machine.current.map({ issued.issuedAt < $0.issuedAt }) == true:
            return .secret(changed(issued, issuedAt: machine.now.wall), revision: revision)
        default: return found
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
