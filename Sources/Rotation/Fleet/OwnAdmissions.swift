import AppleClientSecret
import Model

/// Whether this machine, which receives its secrets from the store, may deliver them yet. During a rollout, its actions wait
/// until this machine's ``RolloutRank`` is admitted.
///
/// - A secret and its rollout are put, and read, in one transaction. So a machine that has seen the secret in the store knows
///   whether it is rolled out. Before that, as after a start without the store, no machine is admitted.
/// - A place without a rollout admits every machine. If etcd does not let this machine read the rollout's key, the machine is
///   not admitted, unless it has seen this secret there without a rollout before.
/// - If a rollout was seen and is now missing, unreadable or about another secret, no machine is admitted: deleting it releases
///   none. The client's record keeps that a rollout was seen, so a restart in between releases none either.
/// - A machine that is not admitted delivers anyway from the time half of `renew_before` is left of the delivered secret. It
///   delivers by rank within a twentieth of `renew_before`, held or not, long before that secret is critical.
/// - A machine that is admitted before the rollout is finished, or by an operator who finishes it, waits for no turn of
///   `deliver_over`.
/// - An action of several clients runs for all of them once one is admitted. If two clients waited for each other and their
///   canaries were different machines, neither would have a canary.
struct OwnAdmissions: Sendable {
    /// The places where a rollout was seen, since the start or according to the clients' records.
    private var rolledOut: Set<StorePlace> = []
    /// The digests of the secrets that were seen in each place, and whether there was a rollout. These are the last secret
    /// read, and earlier ones that a client still uses. Only a secret that was seen there itself, without a rollout, may be
    /// delivered freely.
    private var seen: [StorePlace: Set<Fingerprint>] = [:]

    mutating func adopt(_ change: ConfigurationChange) {
        if change.isOfStore { self = OwnAdmissions() }
    }

    /// Records the rollouts that were read.
    ///
    /// - Parameter current: the digests of the secrets that are delivered, or wait for it.
    mutating func read(
        _ secrets: [StorePlace: StoreObservation], _ rollouts: [StorePlace: RolloutObservation],
        current: Set<Fingerprint>
    ) {
        for (place, observation) in secrets {
            guard case .secret(let secret, _) = observation, rollouts[place] != .forbidden else { continue }
            seen[place] = seen[place, default: []].intersection(current).union(secret.name.digests)
        }
        for (place, rollout) in rollouts where rollout != .forbidden { rolledOut.insert(place) }
    }

    /// Records that a place has a rollout, by our own put or a client's record.
    mutating func noteRollout(at place: StorePlace) { rolledOut.insert(place) }

    /// Whether a rollout was ever seen in a place.
    func wasRolledOut(_ place: StorePlace) -> Bool { rolledOut.contains(place) }

    /// Whether a machine may deliver a secret of the store.
    ///
    /// - Parameter rollout: the secret's, by the last read; nil if none was found, or another secret's.
    fileprivate func admits(_ secret: SecretInfo, at place: StorePlace, _ rollout: Rollout?, rank: UInt64) -> Bool {
        if let rollout { return rollout.admits(rank) }
        guard !rolledOut.contains(place), let seen = seen[place] else { return false }
        return secret.name.digests.contains(where: seen.contains)
    }
}

extension Rotation {
    /// The secret that a client has received from the store, its rollout, and this machine's rank in it. Nil for a client that
    /// receives nothing from there.
    private func received(
        _ client: ConfiguredClient
    ) -> (secret: SecretInfo, place: StorePlace, rollout: Rollout?, rank: UInt64)? {
        guard let store = configuration.store, client.entry.source?.isStore == true,
            let secret = wantedSecret(client), let place = StorePlace(of: secret)
        else { return nil }
        let rollout = storePolling.rollouts[place]?.rollout.flatMap { $0.secret.isSame(as: secret.name) ? $0 : nil }
        let rank = rollout?.rank(of: store.machine) ?? RolloutRank.of(store.machine, secret.fingerprint)
        return (secret, place, rollout, rank)
    }

    /// The rollout that a client's actions wait for; nil if none of them waits for one.
    func awaitedRollout(of client: ConfiguredClient) -> AwaitedRollout? {
        guard let (secret, _, rollout, rank) = received(client) else { return nil }
        let deadlines = client.actions.filter { runs[$0]?.waitsFor == .rollout }.compactMap { action in
            secretsInUseMeanwhile(by: action, of: client).firstToExpire.map {
                client.entry.lastResort(for: secret, over: $0, rank: rank)
            }
        }
        return deadlines.min().map { AwaitedRollout(isHeld: rollout?.state == .held, deadline: $0) }
    }

    /// Whether to deliver a client's secret now, without a turn of `deliver_over`. An unfinished rollout admits this machine's
    /// rank and already spreads the deliveries, or an operator has finished the rollout.
    func skipsTurn(_ client: ConfiguredClient) -> Bool {
        guard let (_, _, rollout, rank) = received(client), let rollout else { return false }
        return rollout.admits(rank) && (!rollout.admitsAll || rollout.isOrdered)
    }

    /// Whether the rollout of a client's secret, if there is one, lets an action run for it.
    func isAdmitted(_ client: ConfiguredClient, _ action: ActionID, _ timer: inout WakeTimer) -> Bool {
        guard let (secret, place, rollout, rank) = received(client) else { return true }
        if admissions.admits(secret, at: place, rollout, rank: rank) { return true }
        guard let held = secretsInUseMeanwhile(by: action, of: client).firstToExpire else { return true }
        return timer.reached(client.entry.lastResort(for: secret, over: held, rank: rank))
    }
}
