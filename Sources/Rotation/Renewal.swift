package import AppleClientSecret

/// What to do about a client's secret.
package enum Decision: Hashable, Sendable {
    /// The key, the record or a file was not read yet.
    case wait
    case keep(SecretInfo, until: WallTime)
    case mint(MintReason)
}

extension Rotation {
    mutating func planConfiguration(at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.configuration].formEarliest(with: deadlines.wake) }
        if pending.contains(where: { $0.wantsConfiguration }) {
            if start(.readConfiguration, on: .configuration, &deadlines, &step) {
                for index in pending.indices { pending[index].wantsConfiguration = false }
                configurationDebounce = nil
                refusalSeenAt = nil
            }
        } else if isConfigurationDue(&deadlines),
            start(.checkConfiguration, on: .configuration, &deadlines, &step)
        {
            configurationDebounce = nil
            refusalSeenAt = nil
        }
    }

    /// Whether to check the configuration again: after a change notice, or because what kept it from being read, such
    /// as a lack of descriptors, may have ended without a notice.
    private func isConfigurationDue(_ deadlines: inout Deadlines) -> Bool {
        var waiting = deadlines
        let isReadable = configurationDebounce?.isReadable(&waiting) == true
        let mayPass = refusalSeenAt.map { waiting.reached($0 + Retry.localBound) } == true
        // One check serves both, so neither deadline is a reason to wake any more.
        if isReadable || mayPass { return true }
        deadlines = waiting
        return false
    }

    mutating func planKey(_ name: KeyName, at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.key(name)] = deadlines.wake }
        guard let entry = world.configuration.keys[name], let key = world.keys[name] else { return }
        // A key that was not read yet is read at once, without debouncing.
        if key.wasRead, key.debounce?.isReadable(&deadlines) == false { return }
        if !key.wasRead || key.print == nil || key.debounce != nil,
            start(.readKey(name, entry), on: .key(name), &deadlines, &step)
        {
            world.keys[name]?.debounce = nil
        }
    }

    /// Plans the touched clients and those in a batch with one that is due; returns all of them.
    mutating func planClients(at now: Now, _ step: inout Step) -> [Subject] {
        var planned: [Subject] = []
        var batches = Batches()
        while true {
            let open = touched.takeClients()
            if open.isEmpty { return planned }
            for client in subjects(open) {
                planClient(client, at: now, &batches, &step)
                planned.append(client)
            }
        }
    }

    private mutating func planClient(
        _ client: Subject, at now: Now, _ batches: inout Batches, _ step: inout Step
    ) {
        let name = client.name
        var deadlines = Deadlines(now: now)
        defer { wakes[.client(name)] = deadlines.wake }
        guard let state = world.clients[name] else { return }
        guard isKnown(client, state) else {
            if !state.wasRecalled { start(.recall(name), on: .record(name), &deadlines, &step) }
            return
        }
        let print = world.keys[client.entry.key]?.print
        let chosen = takeOver(client, presumed(client, state), print, at: now)
        // The cached batch answers rest on the secret that this client had before.
        if chosen.current != state.current { batches = Batches() }
        let decision = decide(client, chosen, print, &batches, &deadlines)
        // No new secret is needed, so a failure to mint one no longer matters.
        if case .keep = decision { recover(.client(name)) }
        guard case .mint(let reason) = decision, clock.failure == nil, print != nil else { return }
        let claims = Claims(
            issuer: client.key.team, keyID: client.key.keyID, subject: client.entry.clientID, now: now.wall,
            lifetime: client.entry.lifetime)
        if start(.mint(name, client.entry.key, claims), on: .client(name), &deadlines, &step) {
            world.clients[name]?.mintReason = reason
            switch reason {
            case .due, .together: planBatch(client)
            case .missing, .unusable, .asked: break
            }
        }
    }

    /// For a client without a record, because it was renamed or the state directory was lost: assumes that its
    /// applications were given the secret in its outputs that expires first.
    ///
    /// - Returns: the client's state afterwards.
    private mutating func presumed(_ client: Subject, _ state: ClientState) -> ClientState {
        guard !state.hasChosen, state.kept == Record(), state.delivered.isEmpty, !client.actions.isEmpty else {
            return state
        }
        var found: [SecretInfo] = []
        for place in client.places {
            let observed = world.files[place.path]?.observed?.slots ?? [:]
            found += place.slots.compactMap { observed[$0]?.issued }.filter { $0.client == client.entry.clientID }
        }
        guard let oldest = found.min(by: { $0.expiresAt < $1.expiresAt }) else { return state }
        var state = state
        state.delivered[.unknown] = oldest
        world.clients[client.name] = state
        return state
    }

    /// Puts the best usable secret found in force, even one that is about to be replaced: that may take a while.
    ///
    /// - Returns: the client's state afterwards.
    private mutating func takeOver(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, at now: Now
    ) -> ClientState {
        // By a distrusted clock the secret in force may seem issued in the future and an older one valid.
        if state.hasChosen, clock.failure != nil { return state }
        // When the other candidates would expire is no reason to wake.
        var deadlines = Deadlines(now: now)
        guard let issued = usable(client, state, print, &deadlines), !state.hasChosen || state.current != issued else {
            return state
        }
        var state = state
        state.current = issued
        state.hasChosen = true
        world.clients[client.name] = state
        changes.append(.tookOver(client.name, issued))
        return state
    }

    /// Whether everything that decides about a client's secret was read, failed or is overdue.
    func isKnown(_ name: ClientName) -> Bool {
        guard let client = world.index.subjects[name], let state = world.clients[name] else { return false }
        return isKnown(client, state)
    }

    private func isKnown(_ client: Subject, _ state: ClientState) -> Bool {
        hasSources(client, state)
            && client.files.allSatisfy { path in
                world.files[path]?.isFresh == true || world.attempts[.file(path)] != nil || isOverdue(.file(path))
            }
    }

    /// Whether the key and the client's record were read, failed or are overdue.
    func hasSources(_ name: ClientName) -> Bool {
        guard let client = world.index.subjects[name], let state = world.clients[name] else { return false }
        return hasSources(client, state)
    }

    private func hasSources(_ client: Subject, _ state: ClientState) -> Bool {
        guard let key = world.keys[client.entry.key] else { return false }
        return (state.wasRecalled || isOverdue(.record(client.name)))
            && (key.wasRead || isOverdue(.key(client.entry.key)))
    }

    /// Decides what to do about a client's secret from what is known.
    package func decide(_ name: ClientName, _ deadlines: inout Deadlines) -> Decision {
        var batches = Batches()
        return decide(name, &batches, &deadlines)
    }

    func decide(_ name: ClientName, _ batches: inout Batches, _ deadlines: inout Deadlines) -> Decision {
        guard let client = world.index.subjects[name], let state = world.clients[name], isKnown(client, state) else {
            return .wait
        }
        return decide(client, state, world.keys[client.entry.key]?.print, &batches, &deadlines)
    }

    private func decide(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, _ batches: inout Batches,
        _ deadlines: inout Deadlines
    ) -> Decision {
        if isRestrained { return decideRestrained(client, state, print, &deadlines) }
        if state.isForced { return .mint(.asked) }
        guard let current = usable(client, state, print, &deadlines) else {
            return .mint(state.current.map(MintReason.unusable) ?? .missing)
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

    /// Decides while ``isRestrained``: mints only to keep applications from being locked out.
    private func decideRestrained(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, _ deadlines: inout Deadlines
    ) -> Decision {
        let usable = usable(client, state, print, &deadlines)
        // Applications hold the current secret even if the key on disk did not sign it, so its expiry decides.
        guard let held = usable ?? state.current, wantedSecret(client) != nil || usable != nil,
            print == nil || held.signer != nil
        else { return .mint(.missing) }
        let end = held.expiresAt - client.entry.criticalRemainder
        return deadlines.reached(end) ? .mint(usable == nil ? .unusable(held) : .due(held)) : .keep(held, until: end)
    }

    /// The secret in force while it is usable; else the best usable one in the outputs.
    private func usable(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, _ deadlines: inout Deadlines
    ) -> SecretInfo? {
        let entry = client.entry
        var candidates: [SecretInfo] = []
        if let current = state.current, entry.accepts(current, key: client.key, print: print, at: &deadlines) {
            if state.hasChosen { return current }
            candidates.append(current)
        }
        for place in client.places {
            guard let observed = world.files[place.path]?.observed else { continue }
            for slot in place.slots {
                if let issued = observed.slots[slot]?.issued,
                    entry.accepts(issued, key: client.key, print: print, at: &deadlines)
                {
                    candidates.append(issued)
                }
            }
        }
        return entry.best(of: candidates)
    }

    mutating func planRecord(_ client: Subject, at now: Now, _ step: inout Step) {
        let name = client.name
        var deadlines = Deadlines(now: now)
        defer { wakes[.record(name)] = deadlines.wake }
        guard let state = world.clients[name], isKnown(client, state) else { return }
        guard state.current != nil else {
            // Keep no empty record: one that could not be read may hold the only secret, so read it again.
            if state.wasNotAnswered { start(.recall(name), on: .record(name), &deadlines, &step) }
            return
        }
        let wanted = state.record(
            shared: sharedFiles(of: client, state), actions: client.actions,
            outputs: recordedPlaces(of: client, state), keyChange: world.keys[client.entry.key]?.change)
        if wanted == state.kept, state.keptBy >= firstLasting {
            // The record is as wanted, so a failure to keep another no longer matters.
            recover(.record(name))
        } else {
            start(.keep(name, wanted), on: .record(name), &deadlines, &step)
        }
    }

    /// Environment files of a client that hold, or last held, lines besides our variables.
    private func sharedFiles(of client: Subject, _ state: ClientState) -> Set<AbsolutePath> {
        Set(
            client.files.filter { path in
                guard let file = world.files[path], file.observed?.exists == true else {
                    return isVanished(path) || state.kept.shared.contains(path)
                }
                return file.heldOtherLines
            })
    }

    /// Updates whether a client is settled: its files and actions then have nothing more to wait for.
    mutating func settle(_ client: Subject) {
        let name = client.name
        guard let state = world.clients[name] else { return }
        let isKept =
            state.kept.current == state.current || world.attempts[.record(name)] != nil || isOverdue(.record(name))
        let isSettled = isKept && isKnown(client, state) && !isBusy(.client(name))
        guard state.isSettled != isSettled else { return }
        world.clients[name]?.isSettled = isSettled
        touch(filesAndActionsOf: client)
    }
}
