extension Rotation {
    /// Puts a configuration in force. What did not change keeps its state, but every key and every file is read again:
    /// administrators reload to have the daemon do that.
    mutating func adopt(_ configuration: Configuration, at now: Now) {
        touchEverything()
        let old = world.configuration
        world.configuration = configuration
        world.index = Index(configuration)
        refusal = nil
        isRestrained = false
        refusedAt = nil
        refusalSeenAt = nil
        configurationLoadedAt = now.wall
        world.keys = configuration.keys.reduce(into: [:]) { keys, entry in
            let isSame = old.keys[entry.key] == entry.value
            var key = KeyState(wasRead: false, print: isSame ? world.keys[entry.key]?.print : nil)
            // Kept even if another file is now configured for the same id.
            if let former = old.keys[entry.key], former.team == entry.value.team, former.keyID == entry.value.keyID {
                key.known = world.keys[entry.key]?.known
                key.change = world.keys[entry.key]?.change
            }
            keys[entry.key] = key
        }
        world.clients = configuration.clients.reduce(into: [:]) { clients, entry in
            clients[entry.key] = world.clients[entry.key] ?? ClientState()
        }
        world.files = world.index.specs.reduce(into: [:]) { files, entry in
            files[entry.key] = world.files[entry.key] ?? FileState()
            files[entry.key]?.isFresh = false
        }
        // A fixed configuration is tried at once, without waiting for the old failures' backoff.
        former.merge(world.attempts) { $1 }
        former = former.filter { isKnown($0.key) }
        world.attempts = [:]
        firstJob = nextJob
        wakes.keep(where: isKnown)
        views = views.filter { configuration.clients[$0.key] != nil }
        healthCounts = views.values.reduce(into: [:]) { $0[$1.health, default: 0] += 1 }
        stateChangeActions.keepOnly(configuration, at: now.boot)
        served = served.filter { configuration.clients[$0.key]?.credential != nil }
        told = told.filter { configuration.clients[$0.key] != nil }
        names = configuration.clients.keys.sorted()
        untried = Set(names)
        unprobed = Set(world.index.probes.keys)
        wasEverTried.formIntersection(untried)
        wantsTidying = true
        areOrphansKnown = false
        removedPlaces.formUnion(old.places)
        removedPlaces.subtract(configuration.places)
        changes.append(.configured(clients: configuration.clients.count))
        touchEverything()
    }

    private func isKnown(_ resource: Resource) -> Bool {
        switch resource {
        case .configuration: true
        case .key(let name): world.keys[name] != nil
        case .client(let name), .record(let name): world.clients[name] != nil
        case .file(let path): world.files[path] != nil
        case .action(let id): world.index.actions[id] != nil
        case .probe(let id): world.index.probes[id] != nil
        case .stateChangeAction(let id): world.configuration.onStateChange.contains { $0.id == id }
        case .state: true
        }
    }

    /// Records why a configuration is not put in force; logs `entry` if these reasons are new.
    mutating func refuse(_ lines: [String], _ entry: LogEvent, at now: Now) {
        if refusal != lines { changes.append(entry) }
        refusal = lines
        refusedAt = refusedAt ?? now.wall
        refusalSeenAt = now.boot
    }
}
