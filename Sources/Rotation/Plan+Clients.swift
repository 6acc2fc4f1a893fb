package import AppleClientSecret

/// What is to become of a client's secret.
package enum Decision: Hashable, Sendable {
    /// Something is not known yet.
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

    /// Whether to look at the configuration again: because of a notice, or because what kept it from being read, such as
    /// want of descriptors, may have ended without one.
    private func isConfigurationDue(_ deadlines: inout Deadlines) -> Bool {
        var waiting = deadlines
        let isReadable = configurationDebounce?.isReadable(&waiting) == true
        let mayPass = refusalSeenAt.map { waiting.reached($0 + Retry.localBound) } == true
        // Whichever it is: one look is for both, so that neither is a reason to wake any more.
        if isReadable || mayPass { return true }
        deadlines = waiting
        return false
    }

    mutating func planKey(_ name: KeyName, at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.key(name)] = deadlines.wake }
        guard let entry = world.configuration.keys[name], let key = world.keys[name] else { return }
        // What was never read is not waited for.
        if key.wasRead, key.debounce?.isReadable(&deadlines) == false { return }
        if !key.wasRead || key.print == nil || key.debounce != nil,
            start(.readKey(name, entry), on: .key(name), &deadlines, &step)
        {
            world.keys[name]?.debounce = nil
        }
    }

    /// Plans the touched clients, and those that are drawn along because they share something with one that is due;
    /// returns all of them.
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
        // Others were judged by the secret that this one had before.
        if chosen.current != state.current { batches = Batches() }
        let decision = decide(client, chosen, print, &batches, &deadlines)
        // What could not be minted is not wanted any more.
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

    /// Of a client of which nothing is remembered, because it has another name now or the state directory was lost, what
    /// lies in an output is what somebody told its application of.
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

    /// Puts the best secret that is to be found in force, also when it is about to be replaced: that may take its time.
    ///
    /// - Returns: the client's state afterwards.
    private mutating func takeOver(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, at now: Now
    ) -> ClientState {
        // By a clock that is doubted the secret in force may look as if it came from the future, and an older one fit.
        if state.hasChosen, clock.failure != nil { return state }
        // What the others that were found would have been good for is no reason to wake.
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

    /// Whether everything by which a client's secret is decided was read or found unreadable.
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

    /// Whether the key and the state directory have told what they hold, or will not.
    func hasSources(_ name: ClientName) -> Bool {
        guard let client = world.index.subjects[name], let state = world.clients[name] else { return false }
        return hasSources(client, state)
    }

    private func hasSources(_ client: Subject, _ state: ClientState) -> Bool {
        guard let key = world.keys[client.entry.key] else { return false }
        return (state.wasRecalled || isOverdue(.record(client.name)))
            && (key.wasRead || isOverdue(.key(client.entry.key)))
    }

    /// What is to become of a client's secret, from what is known of it.
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

    /// What keeps applications from being locked out, and no more.
    private func decideRestrained(
        _ client: Subject, _ state: ClientState, _ print: KeyDigest?, _ deadlines: inout Deadlines
    ) -> Decision {
        let usable = usable(client, state, print, &deadlines)
        // One that the key on the disk has not signed is what applications hold all the same, and is judged by its time.
        guard let held = usable ?? state.current, wantedSecret(client) != nil || usable != nil,
            print == nil || held.signer != nil
        else { return .mint(.missing) }
        let end = held.expiresAt - client.entry.criticalRemainder
        return deadlines.reached(end) ? .mint(usable == nil ? .unusable(held) : .due(held)) : .keep(held, until: end)
    }

    /// The secret in force while it is usable; else the best that lies in the outputs.
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
            // There is nothing to keep, and what is kept may be all that there is.
            if state.wasNotAnswered { start(.recall(name), on: .record(name), &deadlines, &step) }
            return
        }
        let wanted = state.record(
            shared: sharedFiles(of: client, state), actions: client.actions,
            outputs: recordedPlaces(of: client, state), keyChange: world.keys[client.entry.key]?.change)
        if wanted == state.kept, state.keptBy >= firstLasting {
            // What could not be kept is not wanted any more.
            recover(.record(name))
        } else {
            start(.keep(name, wanted), on: .record(name), &deadlines, &step)
        }
    }

    /// Environment files of a client that hold, or held when last seen, lines of somebody else's.
    private func sharedFiles(of client: Subject, _ state: ClientState) -> Set<AbsolutePath> {
        Set(
            client.files.filter { path in
                guard let file = world.files[path], file.observed?.exists == true else {
                    return isVanished(path) || state.kept.shared.contains(path)
                }
                return file.heldOtherLines
            })
    }

    /// A client is settled when nothing that its files or actions should wait for is still to come.
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
