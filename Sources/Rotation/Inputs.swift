internal import Failures

extension Rotation {
    /// Records an input in the state. Decides nothing: the next plan does.
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
        // Its last known state counts until it is read again, which waits until nobody writes any more.
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
            // A key that was just put in place is needed at once: skip the backoff.
            world.attempts[resource]?.notBefore = now.boot
        case .file:
            // Nor does a file wait long that could not be read, or not be written for lack of permission. Other failed
            // writes cause notices themselves.
            if let attempts = world.attempts[resource],
                attempts.wasObservation || attempts.failure.code.retry == .whenChanged
            {
                world.attempts[resource]?.notBefore = min(attempts.notBefore, now.boot + Retry.observationPace)
            }
        default: break
        }
        touch(resource)
    }

    /// Whether a file's content is known, or is being read again because it changed during the last observation: of a
    /// file that never rests that second result counts, and the next observation waits for the debounce.
    private func isSeenSoon(_ path: AbsolutePath) -> Bool {
        guard let file = world.files[path] else { return false }
        return file.isFresh || file.isRestless && world.running[.file(path)]?.work.isObservation == true
    }

    /// Has a key or file read again, also if a job is reading it now: that job may have missed a change.
    mutating func observeAgain(at resource: Resource) {
        switch resource {
        case .key(let name): world.keys[name]?.wasRead = false
        case .file(let path): world.files[path]?.isFresh = false
        case .configuration, .client, .record, .action, .probe, .stateChangeAction, .state: return
        }
        if let job = world.running[resource] { outdated.insert(job.id) }
        // Clients that merely share the file wait for its content, too.
        touch(resource)
    }
}
