internal import AppleClientSecret
internal import Failures
internal import Model

/// When the store is a reason for a client not to be ok.
///
/// - A store that refuses this machine is reported at once; one that is not reached after a while.
extension Rotation {
    /// Why a client's places in the store cannot be read; nil while they can.
    func storeFailure(of client: ConfiguredClient) -> Failure? {
        guard client.concernsStore else { return nil }
        if let attempts = jobs.attempts[.store] { return attempts.failure }
        let isForbidden = storePlaces(of: client).contains { storePolling.observed[$0] == .forbidden }
        return isForbidden ? Failure(.storeForbidden, at: .store) : nil
    }

    /// How long the store may be unreachable before a signer reports it.
    private static let storeWait: Seconds = 900
    /// The same for a follower: a restarted etcd must not cause ten thousand alerts.
    static let storeWaitOfFollowers: Seconds = 86_400

    /// Whether a signer reports that the store cannot be used.
    func isReported(_ failure: Failure, since moment: BootTime, _ timer: inout WakeTimer) -> Bool {
        failure.code.traits.contains(.refusalOfStore) || timer.reached(moment + Self.storeWait)
    }

    /// Why the store is a reason for a client that mints not to be ok.
    func storeReason(of client: ConfiguredClient, _ timer: inout WakeTimer) -> Reason? {
        guard let place = placeToPut(client) else { return nil }
        let name = client.name
        let now = timer.now
        let resource = jobs.attempts[.store] != nil ? Resource.store : .share(name)
        let attempts = jobs.attempts[resource]
        if let failure = storeFailure(of: client) ?? attempts?.failure {
            guard isReported(failure, since: attempts?.began ?? now.boot, &timer) else { return nil }
            return Reason(
                failure: failure, client: name, since: attempts?.since ?? now.wall,
                nextAttempt: attempts.flatMap { upcoming($0.notBefore, now) })
        }
        guard let secret = secretToPut(client), let limit = puts(of: secret, client)?.limit, limit.isContested(&timer),
            storePolling.observed[place].map({ !$0.holds(secret) }) == true
        else { return nil }
        return Reason(
            failure: Failure(
                .contested, at: .store,
                remedy: .say("find out which other machine puts secrets of this key there")),
            client: name, since: now.wall, nextAttempt: limit.next.flatMap { upcoming($0, now) })
    }
}
