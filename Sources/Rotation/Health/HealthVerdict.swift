import AppleClientSecret
internal import Failures
import Model

/// What a client's health is, and the reason that is shown first.
extension Rotation {
    /// Why applications are locked out, or soon will be.
    struct Lockout {
        let failure: Failure
        let cause: Cause

        enum Cause {
            /// What is in this output.
            case output(AbsolutePath)
            /// What is in a place behind an API.
            case target
            /// That the client's secret is missing, has expired or soon will.
            case secret
        }
    }

    /// What a client's health is, and the first reason, which comes from a place that causes this health.
    ///
    /// - Parameters:
    ///   - isServed: whether its outputs and applications have the current secret, or only wait for what takes its time.
    ///   - reasons: what keeps it from being served.
    ///   - warnings: what is wrong with it although it may be served.
    ///   - lockout: why its applications are locked out, or soon will be.
    func verdict(
        on client: ConfiguredClient, isServed: Bool, _ reasons: [Reason], _ warnings: [Reason], _ lockout: Lockout?,
        at now: Now
    ) -> (HealthState, Reason?) {
        func reason(_ failure: Failure) -> Reason { Reason(failure: failure, client: client.name, since: now.wall) }
        // By the last good configuration no action runs, and no request is carried out: the remedies of what follows would not work.
        let restraint = configurationWatch.restraint
        if let lockout {
            let first = reasons.first { explains($0.failure, lockout, of: client) }
            return (.critical, first ?? reason(restraint ?? lockout.failure))
        }
        if let refusal = currentRefusal(client) {
            let first = reasons.first { $0.failure.code == refusal.code }
            return (.critical, first ?? reasons.first ?? restraint.map(reason))
        }
        if let first = reasons.first { return (.degraded, first) }
        if !isServed { return (.degraded, reason(restraint ?? shortcoming(of: client))) }
        return warnings.first.map { (.degraded, $0) } ?? (.ok, nil)
    }

    /// Whether a failure may be why applications are locked out. What is wrong with one output is not the fault of another
    /// one, nor of an action.
    private func explains(_ failure: Failure, _ lockout: Lockout, of client: ConfiguredClient) -> Bool {
        switch (lockout.cause, failure.place) {
        case (.output(let path), .path(let other)): other == path || !client.files.contains(other)
        case (.target, .path(let path)): !client.files.contains(path)
        case (.output, .target), (.output, .action), (.target, .action): false
        default: true
        }
    }

    /// Why a client is not served although nothing has failed.
    private func shortcoming(of client: ConfiguredClient) -> Failure {
        let unchecked = uncheckedPlace(of: client)
        if let unchecked { return Failure(.notChecked, at: unchecked) }
        return lackingPlaces(of: client).isEmpty
            ? Failure(.notDelivered, at: .client(client.name)) : notPublished(client)
    }

    /// Where the daemon does not know what a client has, because it has not looked there since it started: an output, or what
    /// decides about its secret.
    private func uncheckedPlace(of client: ConfiguredClient) -> Failure.Place? {
        if let path = client.files.first(where: { files[$0]?.slots == nil }) { return .path(path) }
        if wantedSecret(client) == nil, !isKnown(client) { return .client(client.name) }
        return client.targets.first { targets[$0.target]?.wasAsked != true }.map { .target($0.target) }
    }

    /// The failure of a client whose secret is not in all of its outputs.
    private func notPublished(_ client: ConfiguredClient) -> Failure {
        .notPublished(client.name, missingFrom: lackingPlaces(of: client))
    }

    /// Why the applications of a client are locked out, or soon will be; nil while they are not.
    func lockout(
        of client: ConfiguredClient, holding weakest: ClientFacts.Weakest, isSpared: Bool, _ timer: inout WakeTimer
    ) -> Lockout? {
        switch weakest {
        case .lockedOut(let path, let found):
            if case .refused = found {
                found.failure(at: path).map { Lockout(failure: $0.concerning(client.name), cause: .output(path)) }
            } else {
                Lockout(failure: unserved(client), cause: .output(path))
            }
        case .empty: Lockout(failure: unserved(client), cause: .target)
        case .nowhere: isKnown(client) ? Lockout(failure: unserved(client), cause: .secret) : nil
        case .held(let secret):
            isSpared
                ? nil
                : client.entry.shortLife(of: secret, client.name, &timer).map {
                    Lockout(failure: $0, cause: .secret)
                }
        case .unknown: nil
        }
    }

    /// The failure of a client whose applications find no secret.
    private func unserved(_ client: ConfiguredClient) -> Failure {
        wantedSecret(client) == nil ? Failure(.noSecret, at: .client(client.name)) : notPublished(client)
    }
}
