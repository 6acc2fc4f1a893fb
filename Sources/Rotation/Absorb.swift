extension Rotation {
    /// Takes in what came to be known. Decides nothing: the next plan does.
    package mutating func absorb(_ fact: Fact, at now: Now) {
        switch fact {
        case .configured(let configuration): adopt(configuration, at: now)
        case .configuredAsBefore(let configuration, let lines):
            adopt(configuration, at: now)
            isRestrained = true
            refuse(lines, .startedAsBefore(lines), at: now)
        case .stirred(let resource): stir(resource, at: now)
        case .finished(let id, let result): finish(id, result, at: now)
        case .hampered(let trouble, let nextAttempt): hamper(trouble, nextAttempt, at: now)
        case .relieved(let code):
            changes += hampered.filter { $0.trouble.code == code }.map { .relieved($0.trouble) }
            hampered.removeAll { $0.trouble.code == code }
        case .stateLost:
            firstLasting = JobID(number: nextJob)
            for client in names { touch(.record(client)) }
        case .clockSet: touchEverything()
        case .asked(let request, let ticket): ask(request, ticket, at: now)
        case .stop:
            isStopping = true
            touchEverything()
        }
    }

    private mutating func hamper(_ trouble: Trouble, _ nextAttempt: BootTime?, at now: Now) {
        if let known = hampered.firstIndex(where: { $0.trouble == trouble }) {
            hampered[known].nextAttempt = nextAttempt
            return
        }
        hampered.removeAll { $0.trouble.code == trouble.code }
        hampered.append(Hampered(trouble: trouble, since: now.wall, nextAttempt: nextAttempt))
        changes.append(.hampered(trouble))
    }

    private mutating func stir(_ resource: Resource, at now: Now) {
        // What is known of it counts until it is looked at again, which waits until nobody writes any more.
        switch resource {
        case .file(let path) where isSeenSoon(path): world.files[path]?.damage.stir(at: now.boot)
        case .key(let name):
            let stirred = Stir(world.keys[name]?.stirred, at: now.boot)
            world.keys[name]?.stirred = stirred
        case .configuration: configurationStirred = Stir(configurationStirred, at: now.boot)
        default: lookAgain(at: resource)
        }
        switch resource {
        case .key:
            // One that somebody has just put in its place is wanted at once.
            world.attempts[resource]?.notBefore = now.boot
        case .file:
            // Nor need one that could not even be looked at wait, or one that it was not permitted to write. Other attempts
            // to write one stir it themselves.
            if let attempts = world.attempts[resource], attempts.wasLook || attempts.trouble.code.isOfPermission {
                world.attempts[resource]?.notBefore = min(attempts.notBefore, now.boot + Retry.lookPace)
            }
        default: break
        }
        touch(resource)
    }

    /// Whether a file was seen, or is being looked at once more because somebody changed it during the look before: one
    /// that never rests is then seen as it is, and looked at again in its time.
    private func isSeenSoon(_ path: AbsolutePath) -> Bool {
        guard let file = world.files[path] else { return false }
        return file.isFresh || file.isRestless && world.running[.file(path)]?.work.isLook == true
    }

    /// Forgets that a key was read or a file looked at, also by a job that is doing so now.
    mutating func lookAgain(at resource: Resource) {
        switch resource {
        case .key(let name): world.keys[name]?.wasRead = false
        case .file(let path): world.files[path]?.isFresh = false
        case .configuration, .client, .record, .action, .probe, .notice, .state: return
        }
        if let job = world.running[resource] { outdated.insert(job.id) }
        // Also those who merely share the file wait for what it holds.
        touch(resource)
    }
}
