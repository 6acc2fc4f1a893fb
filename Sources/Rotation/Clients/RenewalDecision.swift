package import AppleClientSecret
internal import Failures
package import Model

/// The decision about a client's secret.
package enum RenewalDecision: Hashable, Sendable {
    /// The key, the record or a file was not read yet.
    case wait
    case keep(SecretInfo, until: WallTime)
    /// No usable secret was found, and the client cannot mint one: its source has to offer one.
    case receive
    case mint(MintReason)
    /// Wait for Apple's verdict on the new secret, which replaces the current one.
    case verify(SecretInfo)
}

/// When a client's secret is replaced.
///
/// - Nothing is decided before the key, the record and the outputs were read, failed or are overdue.
/// - With a distrusted clock, nothing is minted. A client without its key mints nothing either. A clock that may be ahead mints
///   nothing because of a secret's times.
/// - Clients that share a file or an action are renewed together (``renewedTogether(_:at:)``).
extension Rotation {
    /// Mints for a client if that is its decision.
    ///
    /// - Parameter together: the clients that are renewed together (``renewedTogether(_:at:)``).
    mutating func planRenewal(
        _ client: ConfiguredClient, _ together: Set<ClientName>, _ timer: inout WakeTimer
    ) {
        guard client.entry.source == nil, isKnown(client) else { return }
        let decision = decide(client, together, &timer)
        // No new secret is needed, so a failure to mint one no longer matters.
        switch decision {
        case .keep, .verify: recover(.client(client.name))
        case .wait, .receive, .mint: break
        }
        guard case .mint(let reason) = decision, canMint(client), let moment = mintingTime(client, &timer) else {
            return
        }
        let claims = Claims(
            issuer: client.key.team, keyID: client.key.keyID, subject: client.entry.clientID,
            now: moment, lifetime: client.entry.lifetime)
        if jobs.start(.mint(client.name, client.entry.key, claims), on: .client(client.name), &timer) {
            clients[client].secret.beginMinting(reason)
        }
    }

    /// The `iat` of a new secret. It is later than those before it, because `iat` orders secrets, and two with the same claims
    /// are the same secret. Nil until the `iat` would be in the past. That takes a second or two after sixty renewals within a
    /// minute.
    private func mintingTime(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> WallTime? {
        let now = timer.now.wall
        // No moment is later than that of a secret from the future, minted by a wrong clock.
        let issued = [clients[client].secret.current, pendingCandidate(client)].compactMap { $0?.issuedAt }
        let latest = issued.filter { $0 <= now }.max()
        guard let latest, latest + Claims.backdating >= now else { return now }
        return timer.reached(latest + 2) ? latest + 1 + Claims.backdating : nil
    }

    mutating func mintFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .mint(let name, let key, _) = job.work, case .success(let outcome) = result else { return }
        guard case .minted(let secret) = outcome else { return unexpected(outcome, of: job) }
        clock.noteMint(secret)
        // The key that signed is not the key that was read: the file was replaced, and its change notice is still to come.
        if keys.digest(of: key) != secret.signer { observeAgain(at: .key(key)) }
        // After a reload it may be a client that receives its secrets.
        guard let client = index[name], client.entry.source == nil else { return }
        let isCurrent = noteMinted(secret, client, at: now)
        events.append(.minted(name, secret, clients[client].secret.minted()))
        if isCurrent { take(secret, .minted, for: client, at: now) }
    }

    // MARK: Plan

    /// Whether a decision to mint is carried out: the clock is trusted, and the client's key was read.
    private func canMint(_ client: ConfiguredClient) -> Bool {
        clock.failure == nil && keys.digest(of: client.entry.key) != nil
    }

    /// The decision about each client's secret now. A secret that is to be minted and cannot be has the decision to wait.
    package func decisions(at now: Now) -> [ClientName: RenewalDecision] {
        let together = renewedTogether(index.all, at: now)
        return index.all.reduce(into: [:]) { decisions, client in
            guard isKnown(client) else {
                decisions[client.name] = .wait
                return
            }
            let decision = WakeTimer.peek(at: now) { decide(client, together, &$0) }
            let isWaiting = if case .mint = decision { !canMint(client) } else { false }
            decisions[client.name] = isWaiting ? .wait : decision
        }
    }

    /// - Parameter together: the clients that are renewed together (``renewedTogether(_:at:)``).
    /// - Precondition: everything is known that decides about it (``isKnown(_:)``).
    func decide(
        _ client: ConfiguredClient, _ together: Set<ClientName>, _ timer: inout WakeTimer
    ) -> RenewalDecision {
        if client.entry.source != nil {
            guard let current = clients[client].secret.current, fits(current, client, &timer) else {
                return .receive
            }
            return .keep(current, until: renewal(of: current, client))
        }
        let decision = decideUnverified(client, together, &timer)
        guard case .mint(let reason) = decision, reason != .asked, let candidate = pendingCandidate(client),
            fits(candidate, client, &timer)
        else { return decision }
        return .verify(candidate)
    }

    /// Decides as if no new secret waited for Apple's verdict.
    private func decideUnverified(
        _ client: ConfiguredClient, _ together: Set<ClientName>, _ timer: inout WakeTimer
    ) -> RenewalDecision {
        let secret = clients[client].secret
        if secret.isForced, !configurationWatch.isRestrained { return .mint(.asked) }
        if let spared = spared(client, &timer) { return .keep(spared, until: renewal(of: spared, client)) }
        if configurationWatch.isRestrained { return decideRestrained(client, &timer) }
        guard let current = usable(client, &timer) else {
            if secret.current == nil, lacksMeansToRead(client) || awaitsStore(client, &timer) { return .wait }
            return .mint(secret.current.map(MintReason.unusable) ?? found(client, at: timer.now))
        }
        let renewal = renewal(of: current, client)
        if timer.reached(renewal) { return .mint(.due(current)) }
        if timer.reached(client.entry.earliestRenewal(of: current, jitter: renewalJitter)),
            together.contains(client.name)
        {
            return .mint(.together(current))
        }
        return .keep(current, until: renewal)
    }

    /// Whether this process lacks the descriptors, memory or threads to read a client's record or files, which may hold a lasting
    /// secret.
    private func lacksMeansToRead(_ client: ConfiguredClient) -> Bool {
        let unread: [Resource] =
            (clients[client].record.wasRead ? [] : [.record(client.name)])
            + client.files.filter { files[$0]?.observed == nil }.map(Resource.file)
        return unread.contains { resource in
            jobs.attempts[resource]?.failure.code.traits.contains(.ofLimit) == true
        }
    }

    /// Why no secret in the outputs can be used.
    private func found(_ client: ConfiguredClient, at now: Now) -> MintReason {
        for (path, held) in observedSlots(of: client) {
            let objection: Objection? =
                switch held {
                case .unusable(let objection): objection
                case .secret(let issued): WakeTimer.peek(at: now) { self.objection(to: issued, for: client, &$0) }
                }
            if let objection { return .found(path, objection) }
        }
        return .missing
    }

    /// Decides under a restrained configuration: mints only to keep applications from being locked out.
    private func decideRestrained(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> RenewalDecision {
        let usable = usable(client, &timer)
        // Applications hold the current secret even if the key on disk did not sign it, so its expiry decides.
        guard let held = usable ?? clients[client].secret.current, wantedSecret(client) != nil || usable != nil,
            keys.digest(of: client.entry.key) == nil || held.signer != nil
        else { return .mint(.missing) }
        let end = client.entry.criticalAt(held)
        return timer.reached(end) ? .mint(usable == nil ? .unusable(held) : .due(held)) : .keep(held, until: end)
    }

    /// When the current secret is to be replaced.
    func renewal(of secret: SecretInfo, _ client: ConfiguredClient) -> WallTime {
        configurationWatch.isRestrained
            ? client.entry.criticalAt(secret) : client.entry.renewal(of: secret, jitter: renewalJitter)
    }
}

/// Which clients are renewed together.
extension Rotation {
    /// The clients that may be renewed early, and share a file or an action with one that is due. They may share it directly,
    /// or through others that may be renewed early.
    ///
    /// It sets no wake: the plan of each client sets its own at the same moments.
    ///
    /// - Parameter clients: with each one, all that share something with it.
    func renewedTogether(_ clients: [ConfiguredClient], at now: Now) -> Set<ClientName> {
        var found: Set<ClientName> = []
        var open = clients.filter { isDue($0, at: now) }
        // A file or an action is visited once, not once for each of its clients.
        var visited: Set<Resource> = []
        while let client = open.popLast() {
            for resource in client.files.map(Resource.file) + client.actions.map(Resource.action)
            where visited.insert(resource).inserted {
                for sharer in index.clients(of: resource)
                where mayBeRenewedEarly(sharer, at: now) && found.insert(sharer.name).inserted {
                    open.append(sharer)
                }
            }
        }
        return found
    }

    /// Whether a client makes others due. A client whose next secret waits for Apple's verdict does not: the others were
    /// renewed when that secret was minted.
    private func isDue(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard let current = mintedSecret(of: client), pendingCandidate(client) == nil else { return false }
        return now.wall >= renewal(of: current, client)
    }

    private func mayBeRenewedEarly(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard let current = mintedSecret(of: client) else { return false }
        return now.wall >= client.entry.earliestRenewal(of: current, jitter: renewalJitter)
    }

    /// A client that receives its secrets renews nothing.
    private func mintedSecret(of client: ConfiguredClient) -> SecretInfo? {
        client.entry.source == nil ? clients[client].secret.current : nil
    }
}
