import AppleClientSecret

extension Rotation {
    /// Records the result of a job.
    mutating func finish(_ id: JobID, _ result: Result<Outcome, Failure>, at now: Now) {
        guard let resource = resources.removeValue(forKey: id), let job = world.running.removeValue(forKey: resource)
        else { return }
        overdue.remove(id)
        let isOutdated = outdated.remove(id) != nil
        let isRetriedAtOnce = retryAtOnce.remove(id) != nil && pending.contains { !$0.open.isEmpty }
        touch(job.resource)
        switch result {
        case .success(let outcome):
            count(job, success: true)
            succeed(job, outcome, at: now)
        case .failure(let failure):
            count(job, success: false)
            fail(job, failure, isRetriedAtOnce: isRetriedAtOnce, at: now)
        }
        if isOutdated {
            observeAgain(at: job.resource)
            if case .file(let path) = job.resource { world.files[path]?.isRestless = true }
        }
    }

    private mutating func succeed(_ job: Job, _ outcome: Outcome, at now: Now) {
        let lastFailure = lastFailure(of: job.resource)
        if let attempts = lastFailure, attempts.wasObservation || !job.work.isObservation { recover(job.resource) }
        switch (job.work, outcome) {
        case (.readConfiguration, .configuration(let configuration)):
            adopt(configuration, at: now)
        case (.readConfiguration, .refused(let lines)):
            refuse(lines, .refused(lines), at: now)
        case (.checkConfiguration, .passes):
            if refusal != nil { changes.append(.passes) }
            refusal = nil
            refusedAt = nil
            refusalSeenAt = nil
        case (.checkConfiguration, .refused(let lines)):
            refuse(lines, .wouldNotStart(lines), at: now)
        case (.readKey(let name, let entry), .key(let print)):
            // A reload may have changed the entry while the file was being read.
            guard world.configuration.keys[name] == entry else { return }
            if world.keys[name]?.print != print {
                // The secrets in the files were verified without this key.
                for client in world.index.clients(of: name) {
                    for path in world.index.files(of: client) { observeAgain(at: .file(path)) }
                }
            }
            world.keys[name]?.wasRead = true
            world.keys[name]?.print = print
            noteKey(name, print, at: now)
        case (.recall(let client), .recalled(let record)):
            guard var state = world.clients[client] else { return }
            state.wasRecalled = true
            state.wasNotAnswered = false
            state.kept = record
            state.keptBy = job.id
            state.current = state.current ?? record.current
            noteIssue(state.current)
            noteSigner(of: record, client, at: now)
            // When the state directory answers late, deliveries made meanwhile are newer than its record.
            state.delivered.merge(record.delivered) { observed, _ in observed }
            for action in record.owed where state.owed[action] == nil { state.owed[action] = JobID(number: nextJob) }
            world.clients[client] = state
        case (.observe(let spec), .observed(let observation)):
            // A file that was created or removed may be writable now, however often a write failed.
            if world.files[spec.path]?.observed?.exists != observation.exists {
                world.attempts[job.resource]?.notBefore = now.boot
            }
            if world.files[spec.path]?.observed == nil { judgeFirst(observation, of: spec) }
            see(observation, as: spec)
            judgeDrift(of: spec, began: job.startedAt, at: now)
        case (.mint(let client, let key, _), .minted(let issued)):
            // Another key signed than was read: the file was replaced, and its change notice is still to come.
            if world.keys[key]?.print != issued.signer {
                observeAgain(at: .key(key))
                touch(.key(key))
            }
            guard var state = world.clients[client] else { return }
            changes.append(.minted(client, issued, state.mintReason ?? .asked))
            state.current = issued
            state.hasChosen = true
            state.isForced = false
            state.mintReason = nil
            state.renewals += 1
            world.clients[client] = state
        case (.keep(let client, _), .kept(let record)):
            world.clients[client]?.kept = record
            world.clients[client]?.keptBy = job.id
        case (.publish(let spec, let secrets, _), .published(let observation)):
            tellOfNew(secrets, in: spec)
            see(observation, as: spec)
            world.files[spec.path]?.writtenAt = now.wall
            let isBeingRead = spec.slots.values.contains(where: isBeingTold)
            if world.files[spec.path]?.drift
                .wrote(secrets.mapValues(\.fingerprint), isBeingRead: isBeingRead, at: now.boot) == true
            {
                deliverAgain(to: spec.slots.values)
            }
            let isInPlace = world.files[spec.path].map { file in secrets.allSatisfy { file.holds($1, in: $0) } }
            if isInPlace == false { world.files[spec.path]?.drift.undone(at: now.boot) }
            changes.append(.published(spec.path, published(spec, secrets)))
        case (.run(let action, _), .ran) where job.resource.isStateChangeAction:
            if case .stateChangeAction(let id) = job.resource { stateChangeActions.succeeded(id) }
            changes.append(.told(action.id))
        case (.recallReportedStates, .recalledReportedStates(let told)):
            stateChangeActions.recall(told, world.configuration, at: now)
            stateChangeActions.keptBy = job.id
        case (.keepReportedStates, .keptReportedStates(let told)):
            stateChangeActions.kept = told
            stateChangeActions.keptBy = job.id
        case (.tidyRecords(_, _, let former, _), .tidied(let orphans)):
            tidied(orphans, lookedFor: former, at: now)
        case (.probe(let action), .feasible):
            // The cause of the action's failure is gone: retry at once, without the rest of the backoff.
            if let lastFailure, world.attempts[.action(action.id)]?.failure == lastFailure.failure {
                world.attempts[.action(action.id)]?.notBefore = now.boot
                touch(.action(action.id))
            }
        case (.run(let action, let covering), .ran):
            for (client, covered) in covering {
                world.clients[client]?.delivered[action.id] = covered.issued
                world.clients[client]?.ranAt[action.id] = now.wall
                if let since = world.clients[client]?.owed[action.id], job.id >= since {
                    world.clients[client]?.owed[action.id] = nil
                }
                // Also a client from which a reload has removed the action meanwhile.
                touch(.client(client))
                forgetOthers(of: client)
                for path in world.index.files(of: client) { world.files[path]?.drift.told(at: now.boot) }
            }
            changes.append(.ran(action.id, covering.mapValues(\.issued)))
            // The action ran, so what made its probe fail may be gone.
            if world.attempts[.probe(action.id)] != nil {
                world.attempts[.probe(action.id)]?.notBefore = now.boot
                touch(.probe(action.id))
            }
        default:
            // The executor answers each kind of work with its own outcome: any other is a bug.
            assertionFailure("\(job.work) ended as \(outcome)")
        }
    }

    private mutating func see(_ observation: FileObservation, as spec: FileSpec) {
        for slot in observation.slots.values { noteIssue(slot.issued) }
        guard var file = world.files[spec.path] else { return }
        file.observed = observation
        file.isUncertain = false
        if observation.exists { file.heldOtherLines = observation.otherLines }
        file.isRestless = false
        // An observation by an older configuration's slots and modes does not count: read the file again.
        file.isFresh = world.index.specs[spec.path] == spec
        world.files[spec.path] = file
    }

    private mutating func judgeDrift(of spec: FileSpec, began: BootTime, at now: Now) {
        let isGood = isGood(spec.path)
        let wanted = wantedSecrets(spec).mapValues(\.fingerprint)
        world.files[spec.path]?.drift.see(isGood: isGood, wanted: wanted, began: began, at: now.boot)
    }

    /// At a file's first observation: if it lacks the wanted secret, applications may have read other content while no
    /// daemon ran, so their actions run again. A missing file, as after a reboot, cannot have been read.
    private mutating func judgeFirst(_ observation: FileObservation, of spec: FileSpec) {
        guard observation.exists else { return }
        let wanted = wantedSecrets(spec)
        let bad = spec.slots.filter { slot, _ in
            wanted[slot].map { observation.slots[slot]?.issued?.fingerprint != $0.fingerprint } == true
        }
        deliverAgain(to: bad.values)
    }

    /// Forgets deliveries by actions that are not the client's own, once each of its own has delivered.
    private mutating func forgetOthers(of client: ClientName) {
        guard let actions = world.index.subjects[client]?.actions, let state = world.clients[client],
            !actions.isEmpty, state.delivered.count > actions.count, actions.allSatisfy({ state.delivered[$0] != nil })
        else { return }
        world.clients[client]?.delivered = state.delivered.filter { actions.contains($0.key) }
    }

    /// Has actions run again for a secret that they delivered before it came to this place: a reload added or moved an
    /// output, or a directory appeared late. Not before READY: at a start the applications have yet to begin.
    private mutating func tellOfNew(_ secrets: [Slot: SecretInfo], in spec: FileSpec) {
        guard isReady, let file = world.files[spec.path], file.drift.isNew(secrets.mapValues(\.fingerprint)) else {
            return
        }
        let next = JobID(number: nextJob)
        for (slot, issued) in secrets where file.observed?.slots[slot]?.issued?.fingerprint != issued.fingerprint {
            guard let client = spec.slots[slot] else { continue }
            for action in world.index.actions(of: client)
            where world.clients[client]?.delivered[action]?.fingerprint == issued.fingerprint {
                world.clients[client]?.owed[action] = next
            }
        }
    }

    /// Has the clients' actions run again although their secrets are unchanged.
    private mutating func deliverAgain(to clients: some Sequence<ClientName>) {
        let next = JobID(number: nextJob)
        for client in clients {
            for action in world.index.actions(of: client) { world.clients[client]?.owed[action] = next }
        }
    }

    /// Whether an action that makes a client's applications read its files is running.
    private func isBeingTold(_ client: ClientName) -> Bool {
        world.index.actions(of: client).contains { world.running[.action($0)] != nil }
    }

    private func published(_ spec: FileSpec, _ secrets: [Slot: SecretInfo]) -> [ClientName: SecretInfo] {
        secrets.reduce(into: [:]) { all, entry in
            if let client = spec.slots[entry.key] { all[client] = entry.value }
        }
    }

    private func lastFailure(of resource: Resource) -> Attempts? {
        world.attempts[resource] ?? former[resource]
    }

    /// Clears the failure of a resource, if there is one.
    mutating func recover(_ resource: Resource) {
        guard let attempts = lastFailure(of: resource) else { return }
        world.attempts[resource] = nil
        former[resource] = nil
        if attempts.isLogged { changes.append(.recovered(resource, attempts.failure)) }
    }

    private mutating func fail(_ job: Job, _ failure: Failure, isRetriedAtOnce: Bool, at now: Now) {
        // A failure under an earlier configuration does not count: the work starts afresh under this one.
        guard job.id.number >= firstJob else { return }
        switch job.work {
        case .readKey(let name, _):
            world.keys[name]?.wasRead = true
            world.keys[name]?.print = nil
        case .recall(let client):
            world.clients[client]?.wasRecalled = true
            world.clients[client]?.wasNotAnswered = true
        case .readConfiguration:
            refuse([failure.message], .refused([failure.message]), at: now)
            return
        case .checkConfiguration:
            // The check got no thread: schedule another.
            configurationDebounce = Debounce(configurationDebounce, at: now.boot)
            return
        case .recallReportedStates:
            stateChangeActions.recall(ReportedStates(), world.configuration, at: now)
        case .publish(let spec, _, _):
            world.files[spec.path]?.isUncertain = true
        case .observe(let spec):
            // The last observation says nothing about what the file holds now.
            world.files[spec.path]?.isFresh = false
            if failure.code.leavesNothingToRead { world.files[spec.path]?.observed?.slots = [:] }
        case .tidyRecords:
            wantsTidying = true
        case .mint, .keep, .run, .probe, .keepReportedStates:
            break
        }
        let previous = lastFailure(of: job.resource)
        former[job.resource] = nil
        let failures = (previous?.failures ?? 0) + 1
        let action = action(of: job)
        let pause =
            isRetriedAtOnce || wasReplacedMeanwhile(job)
            ? 0
            : Retry.pause(
                of: job.resource, action: action, failure: failure.code, failures: failures,
                isEmergency: isEmergency(job.resource, at: now), jitter: chance.draw("\(job.resource) \(failures)"))
        let isReminder = now.boot >= (previous?.loggedAt ?? now.boot) + Retry.reminder
        let isNews = (previous?.failure != failure || isReminder) && !isSaid(failure, of: job.resource, isReminder)
        let attempts = Attempts(
            failures: failures, failure: failure, since: previous?.since ?? now.wall,
            notBefore: now.boot.advanced(milliseconds: pause), job: job.id, wasObservation: job.work.isObservation,
            loggedAt: isNews ? now.boot : previous?.loggedAt ?? now.boot,
            isLogged: isNews || previous?.isLogged == true)
        world.attempts[job.resource] = attempts
        if isNews {
            changes.append(
                .failing(job.resource, failure, failures: failures, retryAt: now.wall + Seconds((pause + 999) / 1000)))
        }
    }

    /// Whether a log event says so already: the probe and the run of an action fail for the same reason.
    private func isSaid(_ failure: Failure, of resource: Resource, _ isReminder: Bool) -> Bool {
        switch resource {
        case .probe(let id): world.attempts[.action(id)]?.failure == failure
        case .action(let id): !isReminder && world.attempts[.probe(id)]?.failure == failure
        default: false
        }
    }

    /// Whether a key's file changed while it was read: the unusable key may be replaced already.
    private func wasReplacedMeanwhile(_ job: Job) -> Bool {
        if case .readKey(let name, _) = job.work { world.keys[name]?.debounce != nil } else { false }
    }

    private func isEmergency(_ resource: Resource, at now: Now) -> Bool {
        guard case .action(let id) = resource else { return false }
        // These deadlines are dropped: planAction asks again for every failed action and sets the wake.
        var deadlines = Deadlines(now: now)
        return isEmergency(id, &deadlines)
    }

    private func action(of job: Job) -> Action? {
        if case .run(let action, _) = job.work { action } else { nil }
    }
}
