import AppleClientSecret
internal import Failures
import Model

/// The facts that decide every put for a client: its place in the store as last read, and the secret that the place is to hold.
struct OwnPlace {
    let place: StorePlace
    let secret: SecretInfo
    /// The content of the place.
    let observed: StoreObservation
    /// Its rollout; nil for none. An earlier state of a rollout that was seen later counts as something else.
    let rollout: RolloutObservation?

    /// The revision with which a put of the rollout is compared: 0 without a rollout; nil if it is not known.
    var revisionOfRollout: Int64? { rollout == nil ? 0 : rollout?.revision }
}

/// A signer's puts of one of its own secrets into the store.
struct StorePuts: Hashable, Sendable {
    let secret: SecretInfo
    /// How often they are attempted.
    var limit = RepairLimit.standard
}

/// How secrets and their rollouts are put into the store.
///
/// - Nothing is put while the store cannot be read, or while the clock is distrusted. By a distrusted clock, a newer secret may
///   seem to come from the future.
/// - A put names the revision that was last seen. At another revision it puts nothing and returns the content that it found.
/// - A failed put may still have been carried out, so the store is read again.
/// - One put runs for a client at a time.
/// - A secret is put there once it is kept in the state directory and, with `verify: true`, Apple was asked. A secret that
///   Apple has refused is not put.
/// - If another signer was first, the put finds that signer's secret. It becomes the current one here if a receiving machine
///   would accept it (``Rotation/objection(to:over:_:_:)``) and it is not due. Otherwise the put is repeated.
/// - A place with three attempted puts of one secret within an hour is contested, and written every ten minutes, as files are.
/// - Only the minting of a missing secret waits for the store, for as long as ``StorePolling/isAwaited(at:_:)``.
extension Rotation {
    // MARK: State

    /// The place to which a client's own secrets are put; nil if none are.
    func placeToPut(_ client: ConfiguredClient) -> StorePlace? {
        client.isSharing ? storePlaces(of: client).first : nil
    }

    /// The secret that the store is to hold; nil while there is none that may be shared.
    func secretToPut(_ client: ConfiguredClient) -> SecretInfo? {
        let verification = clients[client].verification
        guard let secret = clients[client].secret.current, client.names(secret),
            secret.signer != nil, secret.signer == keys.digest(of: client.entry.key),
            currentRefusal(client) == nil,
            // Followers get only secrets that Apple was asked about, if it is asked at all.
            verification?.candidate != secret || verification?.isUndecided != true
        else { return nil }
        return secret
    }

    /// The facts that decide a put for a client now; nil while nothing may be put.
    func ownPlace(_ client: ConfiguredClient) -> OwnPlace? {
        guard let place = placeToPut(client), clock.failure == nil, !storePolling.isFailing,
            let secret = secretToPut(client), let observed = storePolling.observed[place]
        else { return nil }
        var rollout = storePolling.rollouts[place]
        if case .rollout(let found, let revision)? = rollout,
            clients[client].rollout?.isEarlier(found, at: revision) == true
        {
            rollout = .foreign(revision: revision)
        }
        return OwnPlace(place: place, secret: secret, observed: observed, rollout: rollout)
    }

    /// Records the result of a put.
    mutating func putFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch result {
        case .success(.putInStore(.done)), .success(.rolloutPut(.done)): storePolling.countPut(success: true)
        case .success: storePolling.countPut(success: nil)
        case .failure: storePolling.countPut(success: false)
        }
        switch (job.work, result) {
        case (.putInStore(let name, let secret, let place, _), .success(.putInStore(let put))):
            putEnded(put, of: secret, of: name, at: place, now)
        case (.putRollout(let name, let rollout, let place, _, let put), .success(.rolloutPut(.done(let revision)))):
            admissions.noteRollout(at: place)
            storePolling.see(.rollout(rollout, revision: revision), at: place)
            if let put { putEnded(.done(revision: revision), of: put.secret, of: name, at: place, now) }
        case (.putRollout(let name, _, let place, _, let put), .success(.rolloutPut(.found(let found, let secret)))):
            storePolling.see(found, at: place)
            if let put { putEnded(.conflict(secret ?? .missing), of: put.secret, of: name, at: place, now) }
        case (_, .failure): storePolling.readAgain(next: jobs.next)
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Records the result of putting a secret.
    private mutating func putEnded(
        _ put: StorePut, of secret: SecretInfo, of name: ClientName, at place: StorePlace, _ now: Now
    ) {
        if let client = index[name] { notePut(of: secret, client, at: now) }
        switch put {
        case .done(let revision):
            storePolling.see(.secret(secret, revision: revision), at: place)
            events.append(.shared(name, secret))
        case .conflict(let found):
            if case .secret(let issued, _) = found { clock.noteIssue(issued) }
            storePolling.see(found, at: place)
        }
    }

    /// Counts an attempt to put a secret, even if nothing was put. Otherwise puts would continue without a pause in a place
    /// that always holds something else.
    mutating func notePut(of secret: SecretInfo, _ client: ConfiguredClient, at now: Now) {
        if clients[client].share?.secret != secret { clients[client].share = StorePuts(secret: secret) }
        clients[client].share?.limit.note(at: now.boot)
        clients[client].share?.limit.endRequest()
    }

    /// The puts of this secret into the store; nil before the first one.
    func puts(of secret: SecretInfo, _ client: ConfiguredClient) -> StorePuts? {
        clients[client].share.flatMap { $0.secret == secret ? $0 : nil }
    }

    // MARK: Plan

    /// Whether the store may hold the secret that is missing here.
    func awaitsStore(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        placeToPut(client).map { storePolling.isAwaited(at: $0, &timer) } == true
    }

    mutating func planShare(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        let name = client.name
        guard isSettled(client), let own = ownPlace(client) else { return }
        if own.observed.holds(own.secret) {
            clients[client].share?.limit.endRequest()
            return recover(.share(name))
        }
        guard let revision = own.observed.revision, betterInStore(client, &timer) == nil,
            puts(of: own.secret, client)?.limit.isPausing(&timer) != true
        else { return }
        let work: Work =
            if let rollout = orderedRolloutToPut(own, client, &timer), let revisionOfRollout = own.revisionOfRollout {
                .putRollout(
                    name, rollout, at: own.place, ifAt: revisionOfRollout, with: SecretPut(own.secret, ifAt: revision))
            } else {
                .putInStore(name, own.secret, at: own.place, ifAt: revision)
            }
        put(work, on: .share(name), of: name, &timer)
    }

    /// Starts a put, unless another one runs for this client. Returns whether it was started.
    ///
    /// - Parameter resource: the client's ``Resource/share(_:)`` or ``Resource/rollout(_:)``.
    @discardableResult
    mutating func put(
        _ work: Work, on resource: Resource, of client: ClientName, _ timer: inout WakeTimer
    ) -> Bool {
        guard jobs[.share(client)] == nil, jobs[.rollout(client)] == nil else { return false }
        return jobs.start(work, on: resource, &timer)
    }
}

extension StoreObservation {
    /// Whether it is this secret, also with another valid signature.
    func holds(_ secret: SecretInfo) -> Bool {
        if case .secret(let found, _) = self { found.isSame(as: secret) } else { false }
    }
}
