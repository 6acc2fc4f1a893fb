import AppleClientSecret
internal import Failures
import Model

/// A signer's puts of one of its own secrets into the store.
struct OwnSecretPuts: Hashable, Sendable {
    /// The secret that was last put there.
    private var secret: SecretInfo
    /// When it was tried to put it there.
    private var puts = putLimit

    /// How often it is tried before the place counts as contested.
    private static let putLimit = RateLimit(3, in: 3600)

    init(_ secret: SecretInfo) { self.secret = secret }

    /// Records that a secret was put, or was to be.
    mutating func put(_ secret: SecretInfo, at now: Now) {
        if self.secret != secret { self = OwnSecretPuts(secret) }
        puts.note(at: now.boot)
    }

    /// Whether a secret was put there so often that nothing more is put there.
    func isContested(_ secret: SecretInfo, _ deadlines: inout Deadlines) -> Bool {
        self.secret == secret && !puts.admits(&deadlines)
    }
}

/// How minted secrets are put into the store (`StorePuts`).
///
/// - A secret is put there once it is kept in the state directory and, with `verify: true`, Apple was asked. One that
///   Apple has refused is not.
/// - If another signer was first, the put finds that one's secret: it becomes the current one here if a machine that receives
///   its secrets would accept it (``Rotation/objection(to:over:_:_:)``) and it is not due; else the put is repeated.
/// - A place in which it was tried to put a secret three times within an hour is contested, and not written until that hour
///   is over.
/// - Nothing waits for the store but the minting of a secret that is missing, for as long as ``StoreReading/isAwaited(at:_:)``.
extension Rotation {
    // MARK: What is

    /// Counts that it was tried to put a secret, even if nothing was put: a place that always holds something else would be
    /// put into without a pause.
    mutating func notePut(of secret: SecretInfo, _ client: ConfiguredClient, at now: Now) {
        var share = clients[client].share ?? OwnSecretPuts(secret)
        share.put(secret, at: now)
        clients[client].share = share
    }

    // MARK: What is wanted

    /// Whether the store may hold the secret that is missing here.
    func awaitsStore(_ client: ConfiguredClient, _ deadlines: inout Deadlines) -> Bool {
        placeToPut(client).map { storeReading.isAwaited(at: $0, &deadlines) } == true
    }

    mutating func planShare(_ client: ConfiguredClient, _ deadlines: inout Deadlines) {
        let name = client.name
        guard isSettled(client), let own = ownPlace(client) else { return }
        if own.observed.holds(own.secret) { return recover(.share(name)) }
        guard let revision = own.observed.revision, betterInStore(client, &deadlines) == nil,
            clients[client].share?.isContested(own.secret, &deadlines) != true
        else { return }
        let work: Work =
            if let rollout = rolloutToPut(own, client, &deadlines), let revisionOfRollout = own.revisionOfRollout {
                .putRollout(
                    name, rollout, at: own.place, ifAt: revisionOfRollout, with: SecretPut(own.secret, ifAt: revision))
            } else {
                .putInStore(name, own.secret, at: own.place, ifAt: revision)
            }
        put(work, on: .share(name), of: name, &deadlines)
    }

    // MARK: What is reported

    /// How long the store may be unreachable before a signer reports it.
    private static let storeWait: Seconds = 900

    /// Whether a signer says that the store cannot be used.
    func isReported(_ failure: Failure, since moment: BootTime, _ deadlines: inout Deadlines) -> Bool {
        failure.code.traits.contains(.refusalOfStore) || deadlines.reached(moment + Self.storeWait)
    }

    /// Why the store is a reason for a client that mints not to be ok.
    func storeReason(of client: ConfiguredClient, _ deadlines: inout Deadlines) -> Reason? {
        guard let place = placeToPut(client) else { return nil }
        let name = client.name
        let now = deadlines.now
        let resource = jobs.attempts[.store] != nil ? Resource.store : .share(name)
        let attempts = jobs.attempts[resource]
        if let failure = storeFailure(of: client) ?? attempts?.failure {
            guard isReported(failure, since: attempts?.began ?? now.boot, &deadlines) else { return nil }
            return Reason(
                failure: failure, client: name, since: attempts?.since ?? now.wall,
                nextAttempt: attempts.flatMap { upcoming($0.notBefore, now) })
        }
        guard let secret = secretToPut(client), clients[client].share?.isContested(secret, &deadlines) == true,
            storeReading.observed[place].map({ !$0.holds(secret) }) == true
        else { return nil }
        return Reason(
            failure: Failure(
                .contested, at: .store,
                remedy: .say("find out which other machine puts secrets of this key there")),
            client: name, since: now.wall)
    }
}
