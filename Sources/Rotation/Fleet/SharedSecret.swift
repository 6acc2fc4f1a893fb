import AppleClientSecret
internal import Failures
import Model

/// A client's secret that was put into the store.
struct SharedSecret: Hashable, Sendable {
    /// The secret that was last put there.
    private var secret: SecretInfo
    /// When it was tried to put it there.
    private var puts = RateLimit(3, in: 3600)

    init(_ secret: SecretInfo) { self.secret = secret }

    /// Records that a secret was put, or was to be.
    mutating func put(_ secret: SecretInfo, at now: Now) {
        if self.secret != secret { self = SharedSecret(secret) }
        puts.note(at: now.boot)
    }

    /// Whether a secret was put there so often that the place is left alone.
    func isContested(_ secret: SecretInfo, _ deadlines: inout Deadlines) -> Bool {
        guard self.secret == secret, let next = puts.next(at: deadlines.now.boot) else { return false }
        return !deadlines.reached(next)
    }
}

/// How minted secrets are put into the store.
///
/// - A secret is put there once it is kept in the state directory and, with `verify: true`, Apple was asked. One that
///   Apple has refused is not.
/// - A put names the revision that was last seen. If another signer was first, the put finds that one's secret: it becomes
///   the current one here if it may be, is greater (issued later, then with the greater digest of the signing input) and is
///   not due; else the put is repeated.
/// - A place in which it was tried to put a secret three times within an hour is contested, and left alone until that hour
///   is over.
/// - Nothing waits for the store but the minting of a secret that is missing, for as long as ``StoreReading/isAwaited(at:_:)``.
extension Rotation {
    // MARK: What is

    mutating func shareFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .putInStore(let name, let secret, let place, _) = job.work else { return }
        switch result {
        case .success(.putInStore(let put)): shareFinished(name, secret, at: place, put, at: now)
        case .failure: shareFailed()
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// Records what came of putting a client's secret into the store.
    mutating func shareFinished(
        _ name: ClientName, _ secret: SecretInfo, at place: StorePlace, _ put: StorePut, at now: Now
    ) {
        // Counted even if nothing was put: a place that always holds something else would be put into without a pause.
        if let client = index[name] {
            var share = clients[client].share ?? SharedSecret(secret)
            share.put(secret, at: now)
            clients[client].share = share
        }
        switch put {
        case .done(let revision):
            storeReading.countPut(success: true)
            storeReading.see(.secret(secret, revision: revision), at: place)
            events.append(.shared(name, secret))
        case .conflict(let found):
            if case .secret(let issued, _) = found { clock.noteIssue(issued) }
            storeReading.countPut(success: nil)
            storeReading.see(found, at: place)
        }
    }

    /// It may still have been put: the next read tells.
    mutating func shareFailed() {
        storeReading.countPut(success: false)
        storeReading.readAgain(next: jobs.next)
    }

    /// Where a client's own secrets are put; nil where none are.
    func ownPlace(_ client: ConfiguredClient) -> StorePlace? {
        guard index.hasStore, client.entry.isSharing else { return nil }
        return storePlaces(of: client).first
    }

    /// The secret that the store is to hold; nil while there is none that may be handed on.
    func secretToShare(_ client: ConfiguredClient) -> SecretInfo? {
        let verification = clients[client].verification
        guard let secret = clients[client].secret.current, client.names(secret),
            secret.signer != nil, secret.signer == keys.digest(of: client.entry.key),
            currentRefusal(client) == nil,
            // Followers are given what Apple was asked about, where it is asked at all.
            verification?.candidate != secret || verification?.isUndecided != true
        else { return nil }
        return secret
    }

    // MARK: What is wanted

    /// Whether the store may hold the secret that is missing here.
    func awaitsStore(_ client: ConfiguredClient, _ deadlines: inout Deadlines) -> Bool {
        ownPlace(client).map { storeReading.isAwaited(at: $0, &deadlines) } == true
    }

    mutating func planShare(_ client: ConfiguredClient, _ deadlines: inout Deadlines) {
        let name = client.name
        // By a distrusted clock a newer secret may seem to come from the future.
        guard let place = ownPlace(client), clock.failure == nil, !storeReading.isFailing, clients[client].isSettled,
            let secret = secretToShare(client), let observed = storeReading.observed[place]
        else { return }
        if observed.holds(secret) { return recover(.share(name)) }
        guard let revision = observed.revision, betterInStore(client, &deadlines) == nil,
            clients[client].share?.isContested(secret, &deadlines) != true
        else { return }
        guard let rollout = rolloutToPut(secret, client, at: place),
            let rolloutRevision = storeReading.rollouts[place].map(\.revision) ?? 0
        else {
            start(.putInStore(name, secret, at: place, ifAt: revision), on: .share(name), &deadlines)
            return
        }
        guard jobs[.rollout(name)] == nil else { return }
        start(
            .putRollout(
                name, rollout, at: place, ifAt: rolloutRevision, with: SecretPut(secret, ifAt: revision)),
            on: .share(name), &deadlines)
    }

    // MARK: What is reported

    /// How long the store may be away before a signer says so.
    private static let storePatience: Seconds = 900

    /// Whether a signer says that the store cannot be used.
    func isReason(_ failure: Failure, since: WallTime, _ deadlines: inout Deadlines) -> Bool {
        failure.code.traits.contains(.refusalOfStore) || deadlines.reached(since + Self.storePatience)
    }

    /// Why the store is a reason for a client that mints not to be ok.
    func shareReason(of client: ConfiguredClient, _ deadlines: inout Deadlines) -> Reason? {
        guard let place = ownPlace(client) else { return nil }
        let name = client.name
        let now = deadlines.now
        let resource = jobs.lastFailure(of: .store) != nil ? Resource.store : .share(name)
        let attempts = jobs.lastFailure(of: resource)
        if let failure = storeFailure(of: client) ?? attempts?.failure {
            let since = attempts?.since ?? now.wall
            guard isReason(failure, since: since, &deadlines) else { return nil }
            return Reason(
                failure: failure, client: name, since: since,
                nextAttempt: attempts.flatMap { upcoming($0.notBefore, now) })
        }
        guard let secret = secretToShare(client), clients[client].share?.isContested(secret, &deadlines) == true,
            storeReading.observed[place].map({ !$0.holds(secret) }) == true
        else { return nil }
        return Reason(
            failure: Failure(
                .contested, at: .store,
                remedy: .say("find out which other machine puts secrets of this key there")),
            client: name, since: now.wall, nextAttempt: nil)
    }
}

extension StoreObservation {
    /// Whether it is this secret, also with another valid signature.
    func holds(_ secret: SecretInfo) -> Bool {
        if case .secret(let found, _) = self { found.isSame(as: secret) } else { false }
    }
}
