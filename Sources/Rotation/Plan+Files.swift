import AppleClientSecret

extension Rotation {
    mutating func planFile(_ path: AbsolutePath, at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.file(path)] = deadlines.wake }
        guard let spec = world.index.specs[path], let file = world.files[path] else { return }
        guard file.isFresh else {
            // What a file holds can be judged once the keys are known and the state directory has told what it keeps.
            if world.index.clients(of: path).allSatisfy({ hasSources($0) }) {
                start(.observe(spec), on: .file(path), &deadlines, &step)
            }
            return
        }
        if file.drift.wantsObservation(&deadlines) {
            start(.observe(spec), on: .file(path), &deadlines, &step)
            return
        }
        // Several clients in one file are one write: wait for those that are about to have a new secret.
        let clients = world.index.clients(of: path)
        for client in clients where world.clients[client]?.isSettled != true { return }
        if isGood(spec, file) {
            // Somebody else has seen to it, or there is nothing to write any more.
            recover(.file(path))
            // Another client's secret may have been all that was wrong with it: whoever shares it is served now, too.
            for client in clients where untried.contains(client) { _ = touched.insert(client) }
            return
        }
        let wanted = wantedSecrets(spec)
        if !wanted.isEmpty, file.drift.mayWrite(wanted.mapValues(\.fingerprint), &deadlines) {
            start(.publish(spec, wanted, mayCreate: !heldOtherLines(path)), on: .file(path), &deadlines, &step)
        }
    }

    /// What each slot of a file should hold; a slot whose client has no secret is left as it is.
    func wantedSecrets(_ spec: FileSpec) -> [Slot: SecretInfo] {
        var wanted: [Slot: SecretInfo] = [:]
        for (slot, client) in spec.slots { wanted[slot] = wantedSecret(client) }
        return wanted
    }

    /// What the outputs of a client should hold: its secret in force, unless that was made for ids which are not the
    /// configured ones any more.
    func wantedSecret(_ client: ClientName) -> SecretInfo? {
        world.index.subjects[client].flatMap { wantedSecret($0) }
    }

    func wantedSecret(_ client: Subject) -> SecretInfo? {
        guard let current = world.clients[client.name]?.current, client.entry.names(current, key: client.key) else {
            return nil
        }
        return current
    }

    /// Whether a file holds what it should, as far as was seen.
    package func isGood(_ path: AbsolutePath) -> Bool {
        guard let spec = world.index.specs[path], let file = world.files[path] else { return false }
        return isGood(spec, file)
    }

    private func isGood(_ spec: FileSpec, _ file: FileState) -> Bool {
        guard file.isFresh, !file.isUncertain, let observed = file.observed, observed.isAsConfigured else {
            return false
        }
        for (slot, client) in spec.slots {
            guard let wanted = wantedSecret(client) else { continue }
            if observed.slots[slot]?.issued?.fingerprint != wanted.fingerprint { return false }
        }
        return true
    }

    /// Whether a file is bad and stays so for now, because somebody else goes on changing it.
    func isLeftAlone(_ path: AbsolutePath, at now: Now) -> Bool {
        guard let spec = world.index.specs[path], let file = world.files[path], file.isFresh, !isGood(spec, file) else {
            return false
        }
        var deadlines = Deadlines(now: now)
        return file.drift.isLeftAlone(wantedSecrets(spec).mapValues(\.fingerprint), &deadlines)
    }

    /// Whether an environment file that held other lines is gone: one made anew would lack them, and its reader would
    /// start with half of its settings.
    func isVanished(_ path: AbsolutePath) -> Bool {
        world.files[path]?.observed?.exists == false && heldOtherLines(path)
    }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        guard let spec = world.index.specs[path], spec.format.isShared else { return false }
        return world.files[path]?.heldOtherLines == true
            || world.index.clients(of: path).contains { world.clients[$0]?.kept.shared.contains(path) == true }
    }

    mutating func planAction(_ id: ActionID, at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.action(id)] = deadlines.wake }
        guard let action = world.index.actions[id], !isRestrained else { return }
        capBackoff(action, &deadlines)
        let sharers = world.index.clients(of: id)
        var covering: [ClientName: Covered] = [:]
        for client in sharers {
            guard let current = wantedSecret(client), owes(client, id), isPublished(client) else { continue }
            covering[client] = Covered(issued: current, outputs: world.index.subjects[client]?.outputs ?? [])
        }
        guard !covering.isEmpty else { return }
        // One run for all that share it: wait for those whose secret is on its way.
        for client in sharers {
            if world.clients[client]?.isSettled != true { return }
            for path in world.index.files(of: client) where isBusy(.file(path)) { return }
        }
        start(.run(action, covering: covering), on: .action(id), &deadlines, &step)
    }

    /// Keeps a pause that was decided in better times from lasting on into an emergency.
    private mutating func capBackoff(_ action: Action, _ deadlines: inout Deadlines) {
        guard let attempts = world.attempts[.action(action.id)],
            !Retry.needsPerson(action, attempts.failure.code, failures: attempts.failures),
            isEmergency(action.id, &deadlines)
        else { return }
        let latest = deadlines.now.boot + Retry.emergencyBound
        world.attempts[.action(action.id)]?.notBefore = min(attempts.notBefore, latest)
    }

    /// Whether an application that an action has still to tell holds, as far as is known, a secret that is critical or
    /// has expired.
    func isEmergency(_ id: ActionID, _ deadlines: inout Deadlines) -> Bool {
        for client in world.index.clients(of: id) where owes(client, id) {
            guard let subject = world.index.subjects[client], let held = held(by: id, of: subject) else { continue }
            let entry = subject.entry
            if deadlines.reached(held.expiresAt - entry.criticalRemainder) { return true }
        }
        return false
    }

    /// What an application that an action tells holds, as far as is known: the secret that the action last ran for. The
    /// oldest that others told of which are not the client's any more, while it has not run yet: an action that was edited
    /// tells the same application. Nil when it holds nothing.
    func held(by action: ActionID, of client: Subject) -> SecretInfo? {
        guard let delivered = world.clients[client.name]?.delivered else { return nil }
        return delivered[action]
            ?? delivered.filter { !client.actions.contains($0.key) }.values.min { $0.expiresAt < $1.expiresAt }
    }

    /// Whether an action has still to be run for a client's secret.
    func owes(_ client: ClientName, _ action: ActionID) -> Bool {
        guard let state = world.clients[client], let current = state.current else { return false }
        return state.delivered[action]?.fingerprint != current.fingerprint || state.owed[action] != nil
    }

    /// Whether all files of a client hold its secret.
    func isPublished(_ client: ClientName) -> Bool {
        world.clients[client]?.isSettled == true && isInPlace(client)
    }

    /// Whether all files of a client held its secret when they were looked at, which was after the last sign of a change.
    func isInPlace(_ client: ClientName) -> Bool {
        guard let subject = world.index.subjects[client], let wanted = wantedSecret(subject) else { return false }
        return subject.places.allSatisfy { place in
            guard let file = world.files[place.path], file.isFresh else { return false }
            return place.slots.allSatisfy { file.holds(wanted, in: $0) }
        }
    }
}

extension FileState {
    /// Whether a secret stood in its place when the file was last seen.
    func holds(_ secret: SecretInfo, in slot: Slot) -> Bool {
        guard !isUncertain, let observed, observed.isAsConfigured else { return false }
        return observed.slots[slot]?.issued?.fingerprint == secret.fingerprint
    }
}
