package import AppleClientSecret

/// What is to become of a client's secret.
package enum Decision: Hashable, Sendable {
    /// Something is not known yet.
    case wait
    case keep(Issued, until: WallTime)
    case mint(MintReason)
}

extension Rotation {
    mutating func planConfiguration(at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.configuration].formEarliest(with: deadlines.wake) }
        if pending.contains(where: { $0.wantsConfiguration }) {
            if start(.readConfiguration, on: .configuration, &deadlines, &turn) {
                for index in pending.indices { pending[index].wantsConfiguration = false }
                configurationStirred = nil
            }
        } else if configurationStirred?.isReadable(&deadlines) == true,
            start(.checkConfiguration, on: .configuration, &deadlines, &turn)
        {
            configurationStirred = nil
        }
    }

    mutating func planKey(_ name: KeyName, at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.key(name)] = deadlines.wake }
        guard let entry = world.configuration.keys[name], let key = world.keys[name] else { return }
        // What was never read is not waited for.
        if key.wasRead, key.stirred?.isReadable(&deadlines) == false { return }
        if !key.wasRead || key.print == nil || key.stirred != nil,
            start(.readKey(name, entry), on: .key(name), &deadlines, &turn)
        {
            world.keys[name]?.stirred = nil
        }
    }

    /// Plans the touched clients, and those that are drawn along because they share something with one that is due;
    /// returns all of them.
    mutating func planClients(at now: Now, _ turn: inout Turn) -> [ClientName] {
        var planned: Set<ClientName> = []
        while true {
            let touched = touchedClients
            let open = touched.filter { planned.insert($0).inserted }
            if open.isEmpty { return touched }
            for client in open { planClient(client, at: now, &turn) }
        }
    }

    private mutating func planClient(_ name: ClientName, at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.client(name)] = deadlines.wake }
        guard let entry = world.configuration.clients[name], let key = world.configuration.keys[entry.key] else {
            return
        }
        guard isKnown(name) else {
            if world.clients[name]?.wasRecalled == false {
                start(.recall(name), on: .record(name), &deadlines, &turn)
            }
            return
        }
        takeOver(name, entry, key, at: now)
        let decision = decide(name, &deadlines)
        guard case .mint(let reason) = decision, clock.trouble == nil, world.keys[entry.key]?.print != nil else {
            return
        }
        let claims = Claims(
            issuer: key.team, keyID: key.keyID, subject: entry.clientID, now: now.wall, lifetime: entry.lifetime)
        if start(.mint(name, entry.key, claims), on: .client(name), &deadlines, &turn) {
            world.clients[name]?.mintReason = reason
            switch reason {
            case .due, .together: for sharer in sharers(of: name) { touch(.client(sharer)) }
            case .missing, .unusable, .asked: break
            }
        }
    }

    /// Puts the best secret that is to be found in force, also when it is about to be replaced: that may take its time.
    private mutating func takeOver(_ name: ClientName, _ entry: ClientEntry, _ key: KeyEntry, at now: Now) {
        // By a clock that is doubted the secret in force may look as if it came from the future, and an older one fit.
        if world.clients[name]?.hasChosen == true, clock.trouble != nil { return }
        // What the others that were found would have been good for is no reason to wake.
        var deadlines = Deadlines(now: now)
        guard let issued = usable(name, entry, key, world.keys[entry.key]?.print, &deadlines) else { return }
        let isNew = world.clients[name]?.current != issued || world.clients[name]?.hasChosen != true
        world.clients[name]?.current = issued
        world.clients[name]?.hasChosen = true
        if isNew { changes.append(.tookOver(name, issued)) }
    }

    /// Whether everything by which a client's secret is decided was read or found unreadable.
    func isKnown(_ name: ClientName) -> Bool {
        hasSources(name)
            && world.index.files(of: name).allSatisfy { path in
                world.files[path]?.isFresh == true || world.attempts[.file(path)] != nil || isOverdue(.file(path))
            }
    }

    /// Whether the key and the state directory have told what they hold, or will not.
    func hasSources(_ name: ClientName) -> Bool {
        guard let state = world.clients[name], let entry = world.configuration.clients[name],
            let key = world.keys[entry.key]
        else { return false }
        return (state.wasRecalled || isOverdue(.record(name))) && (key.wasRead || isOverdue(.key(entry.key)))
    }

    /// What is to become of a client's secret, from what is known of it.
    package func decide(_ name: ClientName, _ deadlines: inout Deadlines) -> Decision {
        guard isKnown(name), let state = world.clients[name], let entry = world.configuration.clients[name],
            let key = world.configuration.keys[entry.key]
        else { return .wait }
        let print = world.keys[entry.key]?.print
        if state.isForced { return .mint(.asked) }
        guard let current = usable(name, entry, key, print, &deadlines) else {
            return .mint(state.current.map(MintReason.unusable) ?? .missing)
        }
        let renewal = entry.renewal(of: current, jitter: hostJitter)
        if deadlines.reached(renewal) { return .mint(.due(current)) }
        if deadlines.reached(entry.earliestRenewal(of: current, jitter: hostJitter)),
            isBesideDue(name, at: deadlines.now)
        {
            return .mint(.together(current))
        }
        return .keep(current, until: renewal)
    }

    /// The secret in force while it is usable; else the best that lies in the outputs.
    private func usable(
        _ name: ClientName, _ entry: ClientEntry, _ key: KeyEntry, _ print: KeyPrint?, _ deadlines: inout Deadlines
    ) -> Issued? {
        var candidates: [Issued] = []
        if let current = world.clients[name]?.current, entry.accepts(current, key: key, print: print, at: &deadlines) {
            if world.clients[name]?.hasChosen == true { return current }
            candidates.append(current)
        }
        for path in world.index.files(of: name) {
            for (slot, sighting) in world.files[path]?.seen?.slots ?? [:]
            where world.index.specs[path]?.slots[slot] == name {
                if let issued = sighting.issued, entry.accepts(issued, key: key, print: print, at: &deadlines) {
                    candidates.append(issued)
                }
            }
        }
        return entry.best(of: candidates)
    }

    /// Whether a client that shares a file or an action is due by now, itself or by way of others it shares with.
    private func isBesideDue(_ name: ClientName, at now: Now) -> Bool {
        var seen: Set<ClientName> = [name]
        var queue = [name]
        while let next = queue.popLast() {
            for sharer in sharers(of: next) where seen.insert(sharer).inserted {
                guard let entry = world.configuration.clients[sharer], let current = world.clients[sharer]?.current
                else {
                    continue
                }
                if now.wall >= entry.renewal(of: current, jitter: hostJitter) { return true }
                if now.wall >= entry.earliestRenewal(of: current, jitter: hostJitter) { queue.append(sharer) }
            }
        }
        return false
    }

    /// Clients that share a file or an action with this one.
    private func sharers(of name: ClientName) -> [ClientName] {
        let all =
            world.index.files(of: name).flatMap { world.index.clients(of: $0) }
            + world.index.actions(of: name).flatMap { world.index.clients(of: $0) }
        return Set(all).filter { $0 != name }.sorted()
    }

    mutating func planRecord(_ name: ClientName, at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.record(name)] = deadlines.wake }
        guard let state = world.clients[name] else { return }
        guard isKnown(name) else { return }
        let wanted = state.record(shared: sharedFiles(of: name))
        guard state.current != nil else { return }
        if wanted == state.kept {
            // What could not be kept is not wanted any more.
            recover(.record(name))
        } else {
            start(.keep(name, wanted), on: .record(name), &deadlines, &turn)
        }
    }

    /// Has the records of clients that have long been gone removed, half a year after the last of their secrets expired:
    /// whoever rolls a configuration back by less finds everything as it was.
    mutating func planTidying(at now: Now, _ turn: inout Turn) {
        // A clock that is wrong by years must not make them old.
        guard wantsTidying, isReady, clock.trouble == nil else { return }
        var deadlines = Deadlines(now: now)
        let work = Work.tidyRecords(keeping: Set(names), expiredBefore: now.wall - Lifetime.appleLimit)
        if start(work, on: .state, &deadlines, &turn) { wantsTidying = false }
        wakes[.state].formEarliest(with: deadlines.wake)
    }

    /// Environment files of a client that hold, or held when last seen, lines of somebody else's.
    private func sharedFiles(of name: ClientName) -> Set<AbsolutePath> {
        let files = world.index.files(of: name)
        return Set(
            files.filter { path in
                guard let file = world.files[path], file.seen?.exists == true else {
                    return isVanished(path) || world.clients[name]?.kept.shared.contains(path) == true
                }
                return file.heldOtherLines
            })
    }

    /// A client is settled when nothing that its files or actions should wait for is still to come.
    mutating func settle(_ name: ClientName) {
        let isKept =
            world.clients[name]?.kept.current == world.clients[name]?.current || world.attempts[.record(name)] != nil
            || isOverdue(.record(name))
        let isSettled = isKnown(name) && !isBusy(.client(name)) && isKept
        if world.clients[name]?.isSettled != isSettled {
            world.clients[name]?.isSettled = isSettled
            for path in world.index.files(of: name) { touched.insert(.file(path)) }
            for action in world.index.actions(of: name) { touched.insert(.action(action)) }
        }
    }
}
