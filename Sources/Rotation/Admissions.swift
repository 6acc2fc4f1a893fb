import AppleClientSecret

/// Whether this machine, which receives its secrets from the store, may deliver them yet: where signers roll a secret out,
/// its actions wait until this machine's ``Rank`` is admitted.
///
/// - A secret and its rollout are put, and read, in one transaction. So whoever has seen the secret there knows whether it
///   is rolled out; before that, as after a start without the store, nobody is admitted.
/// - A place without a rollout admits everybody. Where one was seen that is gone, is of another secret or unreadable, nobody
///   is: who may write there can hold deliveries, and not release them by emptying it. The client's record keeps that one was
///   seen, because a restart in between must not release them either.
/// - From the time half of `renew_before` is left of the secret that applications hold, whoever is not admitted delivers by
///   rank within a twentieth of `renew_before`, held or not: long before it is critical.
/// - Whom a rollout lets deliver before it is finished waits for no turn of `deliver_over` besides.
/// - An action of several clients runs once one of them is admitted, for all of them: waiting for each other, two clients
///   whose canaries are different machines would have none.
struct Admissions: Sendable {
    /// Where a rollout was seen, since the start or by what the clients' records say.
    private var rolledOut: Set<StorePlace> = []
    /// The secrets that were seen in each place: the last one, and those in force. Another one that lies there later, of
    /// whatever kind, says nothing of one that was received.
    private var seen: [StorePlace: Set<Fingerprint>] = [:]

    mutating func adopt(_ configuration: Configuration, _ old: Configuration) {
        if configuration.store != old.store { self = Admissions() }
    }

    /// Records what was read.
    ///
    /// - Parameter inForce: the secrets that are delivered, or wait for it.
    mutating func read(
        _ secrets: [StorePlace: StoreObservation], _ rollouts: [StorePlace: RolloutObservation],
        inForce: Set<Fingerprint>
    ) {
        for (place, observation) in secrets {
            guard case .secret(let secret, _) = observation else { continue }
            seen[place] = seen[place, default: []].intersection(inForce).union([secret.fingerprint])
        }
        for (place, rollout) in rollouts where rollout != .forbidden { rolledOut.insert(place) }
    }

    /// Takes from a client's record that a rollout was seen.
    mutating func recall(_ place: StorePlace) { rolledOut.insert(place) }

    /// Whether a rollout was ever seen in a place.
    func wasRolledOut(_ place: StorePlace) -> Bool { rolledOut.contains(place) }

    /// Whether the machine of this rank may deliver a secret.
    ///
    /// - Parameter rollout: what was last read.
    fileprivate func admits(
        _ rank: UInt64, to secret: Fingerprint, at place: StorePlace, _ rollout: RolloutObservation?
    ) -> Bool {
        if let rollout = rollout?.rollout, rollout.fingerprint == secret { return rank <= rollout.admitted }
        return !rolledOut.contains(place) && seen[place]?.contains(secret) == true
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        configuration.store != nil || rolledOut.isEmpty && seen.isEmpty ? [] : ["a rollout without a store"]
    }
}

extension Rotation {
    /// Where the secret of a client that receives it from the store lies there, and this machine's rank for it; nil where
    /// none is received from there.
    private func admission(_ client: Subject) -> (secret: Fingerprint, place: StorePlace, rank: UInt64)? {
        guard let store = configuration.store, client.entry.source?.isStore == true,
            let secret = wantedSecret(client), let place = StorePlace(of: secret)
        else { return nil }
        return (secret.fingerprint, place, Rank.of(store.machine, secret.fingerprint))
    }

    /// Whether a rollout that is not finished lets this machine deliver a client's secret: it has spread the deliveries.
    func isCalled(_ client: ClientName) -> Bool {
        guard let subject = index.subjects[client], let (secret, place, rank) = admission(subject),
            let rollout = storeReading.rollouts[place]?.rollout, rollout.fingerprint == secret
        else { return false }
        return rank <= rollout.admitted && rollout.admitted < .max
    }

    /// Whether the rollout of a client's secret, where there is one, lets an action run for it.
    func isAdmitted(_ client: ClientName, _ action: ActionID, _ deadlines: inout Deadlines) -> Bool {
        guard let subject = index.subjects[client], let (secret, place, rank) = admission(subject) else { return true }
        if admissions.admits(rank, to: secret, at: place, storeReading.rollouts[place]) { return true }
        guard let held = held(by: action, of: subject), let wanted = wantedSecret(subject) else { return true }
        let span = subject.entry.renewBefore(of: held)
        // One that was issued later than that, after an outage, is spread as well.
        let start = max(held.expiresAt - span / 2, wanted.issuedAt)
        return deadlines.reached(start + Rank.part(rank, of: span / 20))
    }
}
