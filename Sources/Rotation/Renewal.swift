package import AppleClientSecret

/// What to do about a client's secret.
package enum Decision: Hashable, Sendable {
    /// The key, the record or a file was not read yet.
    case wait
    case keep(SecretInfo, until: WallTime)
    /// No usable secret was found, and the client cannot mint one: its source has to offer one.
    case receive
    case mint(MintReason)
    /// Wait for Apple's verdict on the new secret, which replaces the one in force.
    case verify(SecretInfo)
}

/// Which secret of each client is in force, and when it is replaced.
///
/// - Nothing is decided before the key, the record and the outputs were read, failed or are overdue.
/// - Of all usable secrets found the best one is put in force, and stays while it is usable.
/// - Nothing is minted by a distrusted clock or without a key, and by one that may be ahead nothing because of a secret's times.
/// - Clients that share a file or an action are renewed together (`Batches.swift`).
struct Renewal: Sendable {
    private var states: [ClientName: State] = [:]

    struct State: Hashable, Sendable {
        /// The secret in force.
        fileprivate(set) var current: SecretInfo?
        /// Whether ``current`` was chosen among all secrets found; it then stays while it is usable, although an older
        /// one that lasts longer may still lie in a file.
        fileprivate(set) var hasChosen = false
        /// Why a secret is being minted.
        fileprivate var mintReason: MintReason?
        /// Whether a new secret was requested, whatever the age of the current one.
        fileprivate(set) var isForced = false
        /// Secrets minted since the daemon started.
        fileprivate(set) var renewals = 0
    }

    subscript(_ client: ClientName) -> State? { states[client] }

    var allCurrent: some Sequence<SecretInfo> { states.values.lazy.compactMap(\.current) }

    mutating func adopt(_ index: Index) {
        states = index.subjects.states(from: states, else: State())
        // What was asked of a client that cannot mint any more does not happen once it can again.
        for client in index.subjects.values where client.entry.source != nil { force(client.name, false) }
    }

    /// Takes the secret kept in the state directory, unless a better one was found already.
    mutating func recall(_ secret: SecretInfo?, _ client: ClientName) {
        if states[client]?.current == nil { states[client]?.current = secret }
    }

    mutating func force(_ client: ClientName, _ isForced: Bool = true) {
        states[client]?.isForced = isForced
    }

    mutating func choose(_ secret: SecretInfo, _ client: ClientName) {
        states[client]?.current = secret
        states[client]?.hasChosen = true
    }

    fileprivate mutating func beginMinting(_ client: ClientName, _ reason: MintReason) {
        states[client]?.mintReason = reason
    }

    /// Puts a new secret in force, unless Apple is to accept it first; returns why it was minted, nil for a client that
    /// is no longer configured.
    fileprivate mutating func minted(_ secret: SecretInfo, _ client: ClientName, isInForce: Bool) -> MintReason? {
        guard let state = states[client] else { return nil }
        states[client] = State(
            current: isInForce ? secret : state.current, hasChosen: isInForce || state.hasChosen,
            renewals: state.renewals + 1)
        return state.mintReason ?? .asked
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.clients.keys) { broken.append("secrets of other clients") }
        for (name, state) in states where state.hasChosen && state.current == nil {
            broken.append("\(name) has chosen no secret")
        }
        return broken
    }
}

extension Rotation {
    /// Plans the touched clients and those in a batch with one that is due; returns all of them.
    mutating func planClients(at now: Now) -> [Subject] {
        var planned: [Subject] = []
        var batches = Batches()
        while true {
            let open = scope.takeClients()
            if open.isEmpty { return planned }
            for client in subjects(open) {
                var deadlines = Deadlines(now: now)
                var ofCandidate = Deadlines(now: now)
                planClient(client, &batches, &deadlines, &ofCandidate)
                scope.wake(.client(client.name), at: deadlines)
                scope.wake(.verification(client.name), at: ofCandidate)
                planned.append(client)
            }
        }
    }

    private mutating func planClient(
        _ client: Subject, _ batches: inout Batches, _ deadlines: inout Deadlines, _ ofCandidate: inout Deadlines
    ) {
        let name = client.name
        guard let state = renewal[name] else { return }
        if client.entry.source != nil { return planReceiver(client, &deadlines) }
        guard isKnown(client) else { return planRecall(name, &deadlines) }
        presumeDelivered(client, state)
        takeOver(client, state, at: deadlines.now)
        planCandidate(client, &ofCandidate)
        adoptShared(client, &deadlines)
        guard let chosen = renewal[name] else { return }
        // The cached batch answers rest on the secret that this client had before.
        if chosen.current != state.current { batches = Batches() }
        let decision = decide(client, chosen, &batches, &deadlines)
        // No new secret is needed, so a failure to mint one no longer matters.
        switch decision {
        case .keep, .verify: recover(.client(name))
        case .wait, .receive, .mint: break
        }
        guard case .mint(let reason) = decision, clock.failure == nil, keys.print(of: client.entry.key) != nil else {
            return
        }
        let claims = Claims(
            issuer: client.key.team, keyID: client.key.keyID, subject: client.entry.clientID,
            now: mintingTime(name, at: deadlines.now.wall), lifetime: client.entry.lifetime)
        if start(.mint(name, client.entry.key, claims), on: .client(name), &deadlines) {
            renewal.beginMinting(name, reason)
            switch reason {
            case .due, .together: touchBatch(of: client)
            case .missing, .found, .unusable, .asked: break
            }
        }
    }

    /// The moment that a new secret states: later than those before it, so that two renewals within a second do not sign the
    /// same claims, which would be the same secret. Its `iat` stays in the past.
    private func mintingTime(_ client: ClientName, at now: WallTime) -> WallTime {
        [renewal[client]?.current, heldBack(client)].compactMap { $0.map { $0.issuedAt + Claims.backdating + 1 } }
            .filter { $0 > now && $0 < now + Claims.backdating }.max() ?? now
    }

    mutating func mintFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .mint(let client, let key, _) = job.work, case .success(let outcome) = result else { return }
        guard case .minted(let secret) = outcome else { return unexpected(outcome, of: job) }
        // A reload may have made it a client that receives its secrets.
        guard index.subjects[client]?.entry.source == nil else { return }
        clock.noteMint(secret)
        // Another key signed than was read: the file was replaced, and its change notice is still to come.
        if keys.print(of: key) != secret.signer { observeAgain(at: .key(key)) }
        guard let subject = index.subjects[client] else { return }
        let isInForce = noteMinted(secret, subject, at: now)
        if let reason = renewal.minted(secret, client, isInForce: isInForce) {
            events.append(.minted(client, secret, reason))
        }
    }

    /// Puts the best usable secret found in force, even one that is about to be replaced: that may take a while.
    private mutating func takeOver(_ client: Subject, _ state: Renewal.State, at now: Now) {
        // By a distrusted clock the secret in force may seem issued in the future and an older one valid.
        if state.hasChosen, clock.failure != nil { return }
        // When the other candidates would expire is no reason to wake.
        var deadlines = Deadlines(now: now)
        guard let issued = usable(client, state, &deadlines), !state.hasChosen || state.current != issued else {
            return
        }
        renewal.choose(issued, client.name)
        events.append(.tookOver(client.name, issued))
    }

    // MARK: What is known

    /// Whether everything that decides about a client's secret was read, failed or is overdue.
    func isKnown(_ name: ClientName) -> Bool {
        guard let client = index.subjects[name] else { return false }
        return isKnown(client)
    }

    func isKnown(_ client: Subject) -> Bool {
        guard wereKeysAndRecordRead(client),
            isSourceKnown(client)
        else { return false }
        for path in client.files {
            guard destinations.isFresh(path) || jobs.attempts[.file(path)] != nil || jobs.isOverdue(.file(path)) else {
                return false
            }
        }
        return true
    }

    private func isSourceKnown(_ client: Subject) -> Bool {
        guard let source = client.entry.source else { return true }
        if sources.isKnown(client.name) || jobs.isOverdue(source.isStore ? .store : .source(client.name)) {
            return true
        }
        // What the state directory holds is served before the store answers.
        return source.isStore && renewal[client.name]?.current != nil
    }

    /// Whether the keys and the client's record were read, failed or are overdue.
    func wereKeysAndRecordRead(_ client: Subject) -> Bool {
        (records.wasRecalled(client.name) || jobs.isOverdue(.record(client.name))) && wereKeysRead(client)
    }

    func wereKeysRead(_ client: Subject) -> Bool {
        client.keys.allSatisfy {
            keys.isConfigured($0.name) && (keys.wasRead($0.name) || jobs.isOverdue(.key($0.name)))
        }
    }

    // MARK: What is wanted

    /// Decides what to do about a client's secret from what is known.
    package func decide(_ name: ClientName, _ deadlines: inout Deadlines) -> Decision {
        var batches = Batches()
        return decide(name, &batches, &deadlines)
    }

    func decide(_ name: ClientName, _ batches: inout Batches, _ deadlines: inout Deadlines) -> Decision {
        guard let client = index.subjects[name], let state = renewal[name], isKnown(client) else { return .wait }
        return decide(client, state, &batches, &deadlines)
    }

    private func decide(
        _ client: Subject, _ state: Renewal.State, _ batches: inout Batches, _ deadlines: inout Deadlines
    ) -> Decision {
        if client.entry.source != nil {
            guard let current = state.current, fits(current, client, &deadlines) else { return .receive }
            return .keep(current, until: renewal(of: current, client.entry))
        }
        let decision = decideUnverified(client, state, &batches, &deadlines)
        guard case .mint(let reason) = decision, reason != .asked, let candidate = heldBack(client.name),
            fits(candidate, client, &deadlines)
        else { return decision }
        return .verify(candidate)
    }

    /// Decides as if no new secret waited for Apple's verdict.
    private func decideUnverified(
        _ client: Subject, _ state: Renewal.State, _ batches: inout Batches, _ deadlines: inout Deadlines
    ) -> Decision {
        if state.isForced, !configurationWatch.isRestrained { return .mint(.asked) }
        if let spared = spared(client, &deadlines) { return .keep(spared, until: renewal(of: spared, client.entry)) }
        if configurationWatch.isRestrained { return decideRestrained(client, state, &deadlines) }
        guard let current = usable(client, state, &deadlines) else {
            if state.current == nil, awaitsStore(client, &deadlines) { return .wait }
            return .mint(state.current.map(MintReason.unusable) ?? found(client, at: deadlines.now))
        }
        let renewal = client.entry.renewal(of: current, jitter: hostJitter)
        if deadlines.reached(renewal) { return .mint(.due(current)) }
        if deadlines.reached(client.entry.earliestRenewal(of: current, jitter: hostJitter)),
            isInDueBatch(client, at: deadlines.now, &batches)
        {
            return .mint(.together(current))
        }
        return .keep(current, until: renewal)
    }

    /// Why none of the secrets that the outputs hold can be used.
    private func found(_ client: Subject, at now: Now) -> MintReason {
        // When that changes is no reason to wake.
        var deadlines = Deadlines(now: now)
        for place in client.places {
            guard let observed = destinations[place.path]?.observed else { continue }
            for slot in place.slots {
                switch observed.slots[slot] {
                case .unusable(let objection?): return .found(place.path, objection)
                case .secret(let issued):
                    do throws(Objection) {
                        _ = try fitness(of: issued, for: client, &deadlines)
                    } catch {
                        return .found(place.path, error)
                    }
                case .unusable(nil), nil: continue
                }
            }
        }
        return .missing
    }

    /// Decides under a restrained configuration: mints only to keep applications from being locked out.
    private func decideRestrained(
        _ client: Subject, _ state: Renewal.State, _ deadlines: inout Deadlines
    ) -> Decision {
        let usable = usable(client, state, &deadlines)
        // Applications hold the current secret even if the key on disk did not sign it, so its expiry decides.
        guard let held = usable ?? state.current, wantedSecret(client) != nil || usable != nil,
            keys.print(of: client.entry.key) == nil || held.signer != nil
        else { return .mint(.missing) }
        let end = held.expiresAt - client.entry.criticalRemainder
        return deadlines.reached(end) ? .mint(usable == nil ? .unusable(held) : .due(held)) : .keep(held, until: end)
    }

    /// The secret in force while it is usable; else the best usable one in the outputs.
    private func usable(
        _ client: Subject, _ state: Renewal.State, _ deadlines: inout Deadlines
    ) -> SecretInfo? {
        var candidates: [SecretInfo] = []
        if let current = state.current, fits(current, client, &deadlines) {
            if state.hasChosen { return current }
            candidates.append(current)
        }
        for place in client.places {
            guard let observed = destinations[place.path]?.observed else { continue }
            for slot in place.slots {
                if let issued = observed.slots[slot]?.issued, fits(issued, client, &deadlines) {
                    candidates.append(issued)
                }
            }
        }
        return client.entry.best(of: candidates)
    }

    /// What the outputs of a client should hold: its secret in force, unless it was made for ids that are no longer
    /// configured. Where Apple is to accept the new one first, one of another key id or team is kept, also before the
    /// new one is minted.
    func wantedSecret(_ client: ClientName) -> SecretInfo? {
        index.subjects[client].flatMap { wantedSecret($0) }
    }

    func wantedSecret(_ client: Subject) -> SecretInfo? {
        guard let current = renewal[client.name]?.current,
            client.names(current)
                || current.client == client.entry.clientID && (client.entry.verify || heldBack(client.name) != nil)
        else { return nil }
        return current
    }

    /// When the secret in force is to be replaced.
    func renewal(of secret: SecretInfo, _ entry: ClientConfiguration) -> WallTime {
        configurationWatch.isRestrained
            ? secret.expiresAt - entry.criticalRemainder(of: secret) : entry.renewal(of: secret, jitter: hostJitter)
    }
}
