import AppleClientSecret

extension Rotation {
    mutating func planFile(_ path: AbsolutePath, at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.file(path)] = deadlines.wake }
        guard let spec = world.index.specs[path], let file = world.files[path] else { return }
        guard file.isFresh else {
            // What a file holds can be judged once the keys are known and the state directory has told what it keeps.
            if world.index.clients(of: path).allSatisfy({ hasSources($0) }) {
                start(.look(spec), on: .file(path), &deadlines, &turn)
            }
            return
        }
        if file.damage.wantsLook(&deadlines) {
            start(.look(spec), on: .file(path), &deadlines, &turn)
            return
        }
        // Several clients in one file are one write: wait for those that are about to have a new secret.
        guard world.index.clients(of: path).allSatisfy({ world.clients[$0]?.isSettled == true }) else { return }
        let wanted = wantedSecrets(spec)
        if isGood(path) {
            // Somebody else has seen to it, or there is nothing to write any more.
            recover(.file(path))
            // Another client's secret may have been all that was wrong with it: whoever shares it is served now, too.
            for client in world.index.clients(of: path) where untried.contains(client) {
                touched.insert(.client(client))
            }
        } else if !wanted.isEmpty, file.damage.mayRepair(&deadlines) {
            start(.publish(spec, wanted, mayCreate: !heldOtherLines(path)), on: .file(path), &deadlines, &turn)
        }
    }

    /// What each slot of a file should hold; a slot whose client has no secret is left as it is.
    func wantedSecrets(_ spec: FileSpec) -> [Slot: Issued] {
        spec.slots.compactMapValues { wantedSecret($0) }
    }

    /// What the outputs of a client should hold: its secret in force, unless that was made for ids which are not the
    /// configured ones any more.
    func wantedSecret(_ client: ClientName) -> Issued? {
        guard let current = world.clients[client]?.current, let entry = world.configuration.clients[client],
            let key = world.configuration.keys[entry.key], entry.names(current, key: key)
        else { return nil }
        return current
    }

    /// Whether a file holds what it should, as far as was seen.
    package func isGood(_ path: AbsolutePath) -> Bool {
        guard let spec = world.index.specs[path], let file = world.files[path], file.isFresh, !file.isUncertain,
            let seen = file.seen, seen.isAsConfigured
        else { return false }
        return wantedSecrets(spec).allSatisfy { seen.slots[$0]?.issued?.fingerprint == $1.fingerprint }
    }

    /// Whether a file is bad and stays so for now, because somebody else goes on changing it.
    func isLeftAlone(_ path: AbsolutePath, at now: Now) -> Bool {
        guard let file = world.files[path], file.isFresh, !isGood(path) else { return false }
        var deadlines = Deadlines(now: now)
        return !file.damage.mayRepair(&deadlines)
    }

    /// Whether an environment file that held other lines is gone: one made anew would lack them, and its reader would
    /// start with half of its settings.
    func isVanished(_ path: AbsolutePath) -> Bool {
        world.files[path]?.seen?.exists == false && heldOtherLines(path)
    }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        guard let spec = world.index.specs[path], spec.kind == .env else { return false }
        return world.files[path]?.heldOtherLines == true
            || world.index.clients(of: path).contains { world.clients[$0]?.kept.shared.contains(path) == true }
    }

    mutating func planAction(_ id: ActionID, at now: Now, _ turn: inout Turn) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.action(id)] = deadlines.wake }
        guard let action = world.index.actions[id] else { return }
        let sharers = world.index.clients(of: id)
        var covering: [ClientName: Covered] = [:]
        for client in sharers {
            guard let current = wantedSecret(client), owes(client, id), isPublished(client) else { continue }
            covering[client] = Covered(issued: current, outputs: world.index.files(of: client))
        }
        guard !covering.isEmpty else { return }
        // One run for all that share it: wait for those whose secret is on its way.
        for client in sharers {
            if world.clients[client]?.isSettled != true { return }
            for path in world.index.files(of: client) where isBusy(.file(path)) { return }
        }
        start(.run(action, covering: covering), on: .action(id), &deadlines, &turn)
    }

    /// Whether an action has still to be run for a client's secret.
    func owes(_ client: ClientName, _ action: ActionID) -> Bool {
        guard let state = world.clients[client], let current = state.current else { return false }
        return state.delivered[action]?.fingerprint != current.fingerprint || state.owed.contains(action)
    }

    /// Whether all files of a client hold its secret.
    func isPublished(_ client: ClientName) -> Bool {
        world.clients[client]?.isSettled == true && isInPlace(client)
    }

    /// Whether all files of a client held its secret when they were looked at, which was after the last sign of a change.
    func isInPlace(_ client: ClientName) -> Bool {
        wantedSecret(client) != nil
            && world.index.files(of: client).allSatisfy { path in
                world.files[path]?.isFresh == true
                    && world.index.specs[path]?.slots.allSatisfy { $1 != client || holds($0, of: path, for: $1) }
                        == true
            }
    }

    /// Whether a client's place in a file held its secret when the file was last seen.
    func holds(_ slot: Slot, of path: AbsolutePath, for client: ClientName) -> Bool {
        guard let file = world.files[path], !file.isUncertain, let seen = file.seen, seen.isAsConfigured,
            let wanted = wantedSecret(client)
        else {
            return false
        }
        return seen.slots[slot]?.issued?.fingerprint == wanted.fingerprint
    }
}
