extension Rotation {
    /// Takes in what came to be known. Decides nothing: the next plan does.
    package mutating func handle(_ input: Input, at now: Now) {
        switch input {
        case .configured(let configuration): adopt(configuration, at: now)
        case .configuredAsBefore(let configuration, let lines):
            adopt(configuration, at: now)
            isRestrained = true
            refuse(lines, .startedAsBefore(lines), at: now)
        case .changeNoticed(let resource): debounce(resource, at: now)
        case .finished(let id, let result): finish(id, result, at: now)
        case .faultRaised(let failure, let nextAttempt): raise(failure, nextAttempt, at: now)
        case .faultCleared(let code):
            changes += daemonFaults.filter { $0.failure.code == code }.map { .faultCleared($0.failure) }
            daemonFaults.removeAll { $0.failure.code == code }
        case .stateLost:
            firstLasting = JobID(number: nextJob)
            for client in names { touch(.record(client)) }
        case .clockSet: touchEverything()
        case .asked(let request, let requestID): ask(request, requestID, at: now)
        case .stop:
            isStopping = true
            touchEverything()
        }
    }

    private mutating func raise(_ failure: Failure, _ nextAttempt: BootTime?, at now: Now) {
        if let known = daemonFaults.firstIndex(where: { $0.failure == failure }) {
            daemonFaults[known].nextAttempt = nextAttempt
            return
        }
        daemonFaults.removeAll { $0.failure.code == failure.code }
        daemonFaults.append(DaemonFault(failure: failure, since: now.wall, nextAttempt: nextAttempt))
        changes.append(.faultRaised(failure))
    }

    private mutating func debounce(_ resource: Resource, at now: Now) {
        // What is known of it counts until it is looked at again, which waits until nobody writes any more.
        switch resource {
        case .file(let path) where isSeenSoon(path): world.files[path]?.drift.debounce(at: now.boot)
        case .key(let name):
            let debounce = Debounce(world.keys[name]?.debounce, at: now.boot)
            world.keys[name]?.debounce = debounce
        case .configuration: configurationDebounce = Debounce(configurationDebounce, at: now.boot)
        default: observeAgain(at: resource)
        }
        switch resource {
        case .key:
            // One that somebody has just put in its place is wanted at once.
            world.attempts[resource]?.notBefore = now.boot
        case .file:
            // Nor need one that could not even be looked at wait, or one that it was not permitted to write. Other attempts
            // to write one stir it themselves.
            if let attempts = world.attempts[resource], attempts.wasObservation || attempts.failure.code.isOfPermission
            {
                world.attempts[resource]?.notBefore = min(attempts.notBefore, now.boot + Retry.observationPace)
            }
        default: break
        }
        touch(resource)
    }

    /// Whether a file was seen, or is being looked at once more because somebody changed it during the look before: one
    /// that never rests is then seen as it is, and looked at again in its time.
    private func isSeenSoon(_ path: AbsolutePath) -> Bool {
        guard let file = world.files[path] else { return false }
        return file.isFresh || file.isRestless && world.running[.file(path)]?.work.isObservation == true
    }

    /// Forgets that a key was read or a file looked at, also by a job that is doing so now.
    mutating func observeAgain(at resource: Resource) {
        switch resource {
        case .key(let name): world.keys[name]?.wasRead = false
        case .file(let path): world.files[path]?.isFresh = false
        case .configuration, .client, .record, .action, .probe, .stateChangeAction, .state: return
        }
        if let job = world.running[resource] { outdated.insert(job.id) }
        // Also those who merely share the file wait for what it holds.
        touch(resource)
    }
}
