import AppleClientSecret

extension Rotation {
    mutating func planFile(_ path: AbsolutePath, at now: Now, _ step: inout Step) {
        var deadlines = Deadlines(now: now)
        defer { wakes[.file(path)] = deadlines.wake }
        guard let spec = world.index.specs[path], let file = world.files[path] else { return }
        guard file.isFresh else {
            // A file can be judged only after its clients' keys and records were read.
            if world.index.clients(of: path).allSatisfy({ hasSources($0) }) {
                start(.observe(spec), on: .file(path), &deadlines, &step)
            }
            return
        }
        if file.drift.wantsObservation(&deadlines) {
            start(.observe(spec), on: .file(path), &deadlines, &step)
            return
        }
        // One write serves all clients of a file: wait for those about to get a new secret.
        let clients = world.index.clients(of: path)
        for client in clients where world.clients[client]?.isSettled != true { return }
        if isGood(spec, file) {
            // Another program fixed the file, or nothing is to be written any more.
            recover(.file(path))
            // Perhaps only another client's secret was wrong in it: untried clients may now count as tried.
            for client in clients where untried.contains(client) { _ = touched.insert(client) }
            return
        }
        let wanted = wantedSecrets(spec)
        if !wanted.isEmpty, file.drift.mayWrite(wanted.mapValues(\.fingerprint), &deadlines) {
            start(.publish(spec, wanted, mayCreate: !heldOtherLines(path)), on: .file(path), &deadlines, &step)
        }
    }

    /// The secret that each slot of a file should hold; a slot whose client has none is left as it is.
    func wantedSecrets(_ spec: FileSpec) -> [Slot: SecretInfo] {
        var wanted: [Slot: SecretInfo] = [:]
        for (slot, client) in spec.slots { wanted[slot] = wantedSecret(client) }
        return wanted
    }

    /// What the outputs of a client should hold: its secret in force, unless it was made for ids that are no longer
    /// configured.
    func wantedSecret(_ client: ClientName) -> SecretInfo? {
        world.index.subjects[client].flatMap { wantedSecret($0) }
    }

    func wantedSecret(_ client: Subject) -> SecretInfo? {
        guard let current = world.clients[client.name]?.current, client.entry.names(current, key: client.key) else {
            return nil
        }
        return current
    }

    /// Whether a file, as last observed, holds what it should.
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

    /// Whether a file is bad and is left so for now, because another program keeps changing it.
    func isLeftAlone(_ path: AbsolutePath, at now: Now) -> Bool {
        guard let spec = world.index.specs[path], let file = world.files[path], file.isFresh, !isGood(spec, file) else {
            return false
        }
        var deadlines = Deadlines(now: now)
        return file.drift.isLeftAlone(wantedSecrets(spec).mapValues(\.fingerprint), &deadlines)
    }

    /// Whether an environment file that held other lines is gone: a new one would lack them, and an application would
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
        // One run serves all clients of an action: wait for those about to get a new secret.
        for client in sharers {
            if world.clients[client]?.isSettled != true { return }
            for path in world.index.files(of: client) where isBusy(.file(path)) { return }
        }
        start(.run(action, covering: covering), on: .action(id), &deadlines, &step)
    }

    /// Caps a backoff that was set before an emergency began: it would be too long now.
    private mutating func capBackoff(_ action: Action, _ deadlines: inout Deadlines) {
        guard let attempts = world.attempts[.action(action.id)],
            !Retry.needsPerson(action, attempts.failure.code, failures: attempts.failures),
            isEmergency(action.id, &deadlines)
        else { return }
        let latest = deadlines.now.boot + Retry.emergencyBound
        world.attempts[.action(action.id)]?.notBefore = min(attempts.notBefore, latest)
    }

    /// Whether an application that an action has yet to notify holds, as far as is known, a critical or expired secret.
    func isEmergency(_ id: ActionID, _ deadlines: inout Deadlines) -> Bool {
        for client in world.index.clients(of: id) where owes(client, id) {
            guard let subject = world.index.subjects[client], let held = held(by: id, of: subject) else { continue }
            let entry = subject.entry
            if deadlines.reached(held.expiresAt - entry.criticalRemainder) { return true }
        }
        return false
    }

    /// The secret that applications notified by an action hold, as far as is known: the one it last ran for. Before its
    /// first run the one that expires first of those delivered by actions that are no longer the client's, because an
    /// edited action notifies the same application. Nil when they hold none.
    func held(by action: ActionID, of client: Subject) -> SecretInfo? {
        guard let delivered = world.clients[client.name]?.delivered else { return nil }
        return delivered[action]
            ?? delivered.filter { !client.actions.contains($0.key) }.values.min { $0.expiresAt < $1.expiresAt }
    }

    /// Whether an action has yet to run for a client's secret.
    func owes(_ client: ClientName, _ action: ActionID) -> Bool {
        guard let state = world.clients[client], let current = state.current else { return false }
        return state.delivered[action]?.fingerprint != current.fingerprint || state.owed[action] != nil
    }

    /// Whether a client is settled and all its files hold its secret.
    func isPublished(_ client: ClientName) -> Bool {
        world.clients[client]?.isSettled == true && isInPlace(client)
    }

    /// Whether all files of a client hold its secret, by observations that still count.
    func isInPlace(_ client: ClientName) -> Bool {
        guard let subject = world.index.subjects[client], let wanted = wantedSecret(subject) else { return false }
        return subject.places.allSatisfy { place in
            guard let file = world.files[place.path], file.isFresh else { return false }
            return place.slots.allSatisfy { file.holds(wanted, in: $0) }
        }
    }
}

extension FileState {
    /// Whether a slot held a secret when the file was last observed.
    func holds(_ secret: SecretInfo, in slot: Slot) -> Bool {
        guard !isUncertain, let observed, observed.isAsConfigured else { return false }
        return observed.slots[slot]?.issued?.fingerprint == secret.fingerprint
    }
}
