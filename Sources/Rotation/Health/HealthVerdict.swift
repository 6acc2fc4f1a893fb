import AppleClientSecret
internal import Failures
import Model

/// A client's health, and the reason that is shown first.
extension Rotation {
    /// Why applications are locked out, or soon will be.
    struct Lockout {
        let failure: Failure
        let cause: Cause

        enum Cause {
            /// The content of this output.
            case output(AbsolutePath)
            /// The content of a place behind an API.
            case target
            /// That the client's secret is missing, has expired or soon will.
            case secret
        }
    }

    /// A client's health, and the first reason, which comes from a place that causes this health.
    ///
    /// - Parameters:
    ///   - isServed: whether its outputs and applications have the current secret, or only wait for an expected delay.
    ///   - reasons: the reasons that keep it from being served.
    ///   - warnings: its problems although it may be served.
    ///   - lockout: why its applications are locked out, or soon will be.
    ///   - cause: the first of the reasons that explains the lockout.
    func verdict(
        on client: ConfiguredClient, isServed: Bool, _ reasons: [Reason], _ warnings: [Reason], _ lockout: Lockout?,
        _ cause: Reason?, at now: Now
    ) -> (HealthState, Reason?) {
        func reason(_ failure: Failure) -> Reason { Reason(failure: failure, client: client.name, since: now.wall) }
        // By the last good configuration no action runs, and no request is carried out: other remedies would not work.
        let restraint = configurationWatch.restraint
        if let lockout {
            return (.critical, cause ?? reason(restraint ?? lockout.failure))
        }
        if let refusal = currentRefusal(client) {
            let first = reasons.first { $0.failure.code == refusal.code }
            return (.critical, first ?? reasons.first ?? restraint.map(reason))
        }
        if let first = reasons.first { return (.degraded, first) }
        if !isServed { return (.degraded, reason(restraint ?? shortcoming(of: client))) }
        return warnings.first.map { (.degraded, $0) } ?? (.ok, nil)
    }

    /// The first of these reasons that explains why a client's applications are locked out, or soon will be; without one of these,
    /// the first reason.
    func mainReason(
        of client: ConfiguredClient, among reasons: [Reason], _ timer: inout WakeTimer
    ) -> Reason? {
        let isSpared = spared(client, &timer) != nil
        let weakest = facts(of: client, &timer).weakest
        return lockout(of: client, holding: weakest, isSpared: isSpared, &timer)
            .flatMap { cause(of: $0, for: client, among: reasons, &timer) } ?? reasons.first
    }

    /// Why applications are locked out. If a lasting secret is available, failures on the way to another one keep it from no
    /// place and no application. Then a failure of delivery goes first.
    func cause(
        of lockout: Lockout, for client: ConfiguredClient, among reasons: [Reason], _ timer: inout WakeTimer
    ) -> Reason? {
        let possible = reasons.filter { explains($0.failure, lockout, of: client) }
        guard let wanted = wantedSecret(client), client.entry.shortLife(of: wanted, client.name, &timer) == nil,
            let first = possible.first(where: { isAboutPlaces($0.failure, of: client) })
        else { return possible.first }
        return first
    }

    /// Whether a failure is about a place of a client's secret, or about an application to notify.
    private func isAboutPlaces(_ failure: Failure, of client: ConfiguredClient) -> Bool {
        switch failure.place {
        case .path(let path): client.files.contains(path)
        case .target, .action: true
        default: false
        }
    }

    /// Whether a failure may be why applications are locked out. A problem of one output is not the fault of another output or
    /// of an action.
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
        let silent = client.targets.lazy.map(\.target).filter { !self.isHeld(self.wantedSecret(client), at: $0) }
            .compactMap { self.overdueService(of: $0) }.first
        if let silent { return silent }
        if let unchecked = uncheckedPlace(of: client) { return Failure(.notChecked, at: unchecked) }
        let lacking = lackingPlaces(of: client)
        guard lacking.isEmpty else { return .notPublished(client.name, missingFrom: lacking) }
        return .notDelivered(
            client.name, failed: clients[client].deliveries.failed, of: client.actions,
            during: runningAction(of: client))
    }

    /// The action that runs now for a client's secret. A request to repeat it would add nothing.
    private func runningAction(of client: ConfiguredClient) -> Action? {
        client.actions.first { owes(client, $0) && jobs[.action($0)] != nil }.flatMap { index.actions[$0] }
    }

    /// The place that the daemon has not checked since it started, so that it does not know what the client has. This is an
    /// output, or an input of the decision about its secret.
    private func uncheckedPlace(of client: ConfiguredClient) -> Failure.Place? {
        if let path = client.files.first(where: { files[$0]?.slots == nil }) { return .path(path) }
        if wantedSecret(client) == nil, !isKnown(client) { return .client(client.name) }
        return client.targets.first { targets[$0.target]?.wasAsked != true }.map { .target($0.target) }
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
        case .refused(let secret, let objection):
            Lockout(failure: refusedFailure(of: secret, objection, client), cause: .secret)
        case .held(let secret):
            isSpared
                ? nil
                : client.entry.shortLife(of: secret, client.name, &timer).map {
                    Lockout(
                        failure: isOnlyToDeliver(client, &timer)
                            ? $0.untilDelivered(during: runningAction(of: client)) : $0,
                        cause: .secret)
                }
        case .unknown: nil
        }
    }

    /// Whether all places of a client hold a lasting secret: applications that hold another one get it by an action.
    func isOnlyToDeliver(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        guard let wanted = wantedSecret(client), lackingPlaces(of: client).isEmpty else { return false }
        return client.entry.shortLife(of: wanted, client.name, &timer) == nil
    }

    /// The failure of a client whose applications, credential or place behind an API has a secret that Apple refuses.
    private func refusedFailure(of secret: SecretInfo, _ objection: Objection, _ client: ConfiguredClient) -> Failure {
        guard let wanted = wantedSecret(client) else { return unserved(client) }
        if wanted.isSame(as: secret) {
            return Failure(.secretUnacceptable, at: .client(client.name), detail: "it \(objection.words)")
        }
        guard lackingPlaces(of: client).isEmpty else { return unserved(client) }
        return .notDelivered(
            at: .client(client.name), whileHeld: objection.words, during: runningAction(of: client))
    }

    /// The failure of a client whose applications find no secret.
    private func unserved(_ client: ConfiguredClient) -> Failure {
        wantedSecret(client) == nil
            ? Failure(.noSecret, at: .client(client.name))
            : .notPublished(client.name, missingFrom: lackingPlaces(of: client))
    }
}

extension Failure {
    /// - Parameters:
    ///   - failed: why actions failed when they last ran.
    ///   - running: the action that runs now.
    static func notDelivered(
        _ client: ClientName, failed: [ActionID: String], of actions: [ActionID], during running: Action? = nil
    ) -> Failure {
        Failure(
            .notDelivered, at: .client(client), detail: actions.lazy.compactMap { failed[$0] }.first,
            remedy: running.map(Self.waiting))
    }

    private static func waiting(for action: Action) -> Remedy {
        .say("wait until \(action.id) has ended", see: action.id.order.flatMap { .status(of: $0.unit) })
    }

    /// The failure of a secret that has expired or soon will, if applications hold only that one until an action has run.
    ///
    /// - Parameters:
    ///   - reason: why an action failed.
    ///   - running: the action that runs now.
    func untilDelivered(_ reason: String? = nil, during running: Action? = nil) -> Failure {
        let verb = code == .secretExpired ? "expired" : "expires"
        return .notDelivered(at: place, whileHeld: "\(verb) at \(detail ?? "")", reason, during: running)
    }

    /// The failure of a client whose applications have a bad secret until an action has run.
    ///
    /// - Parameters:
    ///   - problem: of that secret, as the end of a sentence that begins with "it".
    ///   - reason: why an action failed.
    ///   - running: the action that runs now.
    static func notDelivered(
        at place: Place, whileHeld problem: String, _ reason: String? = nil, during running: Action? = nil
    ) -> Failure {
        Failure(
            .notDelivered, at: place, detail: reason ?? "applications may still have a secret that \(problem)",
            remedy: running.map(Self.waiting))
    }

    /// - Parameter places: the places that lack the client's secret.
    static func notPublished(_ client: ClientName, missingFrom places: [Place]) -> Failure {
        let words = listed(places.map(\.description), atMost: 3)
        return Failure(.notPublished, at: .client(client), detail: words.isEmpty ? nil : words)
    }
}
