import AppleClientSecret

/// What the next plan covers, and when that is: what was touched since the last plan, and what was to be woken.
///
/// A plan over everything would start nothing more, which the simulator checks; but with ten thousand clients it would
/// cost noticeable time at every input.
struct Dirty: Sendable {
    private(set) var keys: Set<KeyName> = []
    private(set) var files: Set<AbsolutePath> = []
    private(set) var targets: Set<TargetName> = []
    private(set) var actions: Set<ActionID> = []
    private(set) var probes: Set<ActionID> = []
    /// Keys whose clients were all touched, and files and actions whose clients were because one of them is renewed.
    private var batched: Set<Resource> = []
    /// Clients whose files, targets and actions were touched with them, by ``Subject/order``.
    private var clients: Set<Int> = []
    /// Clients that were touched without what they have.
    private var clientsAlone: Set<Int> = []
    /// Clients that were already taken: one plan takes none twice.
    private var taken: Set<Int> = []
    private var wakes = WakeQueue()

    // MARK: What was touched

    mutating func touch(key: KeyName) { keys.insert(key) }

    /// Returns whether what the client has must be touched, too: once in a plan.
    mutating func touch(_ client: Subject) -> Bool { clients.insert(client.order).inserted }

    mutating func touch(clientAlone client: Subject) { clientsAlone.insert(client.order) }
    mutating func touch(probe: ActionID) { probes.insert(probe) }
    mutating func touch(files: some Sequence<AbsolutePath>) { self.files.formUnion(files) }
    mutating func touch(targets: some Sequence<TargetName>) { self.targets.formUnion(targets) }
    mutating func touch(actions: some Sequence<ActionID>) { self.actions.formUnion(actions) }

    /// Whether the clients that share a key, a file or an action have to be touched: once in a plan.
    mutating func isFirstInBatch(_ shared: Resource) -> Bool { batched.insert(shared).inserted }

    /// The clients that were touched and not yet taken.
    mutating func takeClients() -> Set<Int> {
        let touched = clients.union(clientsAlone).subtracting(taken)
        taken.formUnion(touched)
        return touched
    }

    /// Ends a plan: nothing is touched any more.
    mutating func clear() {
        keys = []
        files = []
        targets = []
        actions = []
        probes = []
        batched = []
        clients = []
        clientsAlone = []
        taken = []
    }

    // MARK: When to plan again

    /// Sets when a resource is to be planned again.
    mutating func wake(_ resource: Resource, at deadlines: Deadlines) { wakes[resource] = deadlines.wake }

    /// Has a resource planned again also at these moments.
    mutating func wake(_ resource: Resource, alsoAt deadlines: Deadlines) {
        wakes[resource].formEarliest(with: deadlines.wake)
    }

    /// Removes the moments that have come; returns their resources.
    mutating func takeReached(at now: Now) -> [Resource] { wakes.takeReached(at: now) }

    mutating func earliestWake() -> Wake { wakes.earliest() }

    /// Forgets what belongs to the configuration before, but the wakes of what belongs to the new one as well.
    mutating func adopt(where isKnown: (Resource) -> Bool) {
        clear()
        wakes.keep(where: isKnown)
    }
}

/// When each resource has to be planned again, ordered so that the next one is cheap to find: with ten thousand clients
/// and an input for each, a scan of all of them every time would be noticeable.
private struct WakeQueue: Sendable {
    private var wanted: [Resource: Wake] = [:]
    private var walls = Heap<WallTime>()
    private var boots = Heap<BootTime>()

    subscript(_ resource: Resource) -> Wake {
        get { wanted[resource] ?? Wake() }
        set {
            let old = wanted[resource]
            guard old ?? Wake() != newValue else { return }
            wanted[resource] = newValue == Wake() ? nil : newValue
            if let moment = newValue.wall, moment != old?.wall { walls.insert(moment, resource) }
            if let moment = newValue.boot, moment != old?.boot { boots.insert(moment, resource) }
            tidy()
        }
    }

    /// Forgets every resource for which `isKept` is false.
    mutating func keep(where isKept: (Resource) -> Bool) {
        wanted = wanted.filter { isKept($0.key) }
    }

    /// Removes the moments that have come on either clock; returns their resources.
    mutating func takeReached(at now: Now) -> [Resource] {
        var reached: [Resource] = []
        while let (moment, resource) = walls.first, moment <= now.wall {
            walls.removeFirst()
            guard wanted[resource]?.wall == moment else { continue }
            wanted[resource]?.wall = nil
            reached.append(resource)
        }
        while let (moment, resource) = boots.first, moment <= now.boot {
            boots.removeFirst()
            guard wanted[resource]?.boot == moment else { continue }
            wanted[resource]?.boot = nil
            reached.append(resource)
        }
        return reached
    }

    /// The earliest moment on each clock.
    mutating func earliest() -> Wake {
        while let (moment, resource) = walls.first, wanted[resource]?.wall != moment { walls.removeFirst() }
        while let (moment, resource) = boots.first, wanted[resource]?.boot != moment { boots.removeFirst() }
        return Wake(wall: walls.first?.0, boot: boots.first?.0)
    }

    /// Replaced moments stay in the heaps until they come to the front; when most are such, the heaps are rebuilt.
    private mutating func tidy() {
        guard walls.count + boots.count > 8 * wanted.count + 64 else { return }
        walls = Heap()
        boots = Heap()
        for (resource, wake) in wanted {
            if let moment = wake.wall { walls.insert(moment, resource) }
            if let moment = wake.boot { boots.insert(moment, resource) }
        }
    }
}

/// A binary heap of moments, the earliest first.
private struct Heap<Moment: Comparable & Sendable>: Sendable {
    private var entries: [(Moment, Resource)] = []

    var first: (Moment, Resource)? { entries.first }
    var count: Int { entries.count }

    mutating func insert(_ moment: Moment, _ resource: Resource) {
        entries.append((moment, resource))
        var child = entries.count - 1
        while child > 0, entries[child].0 < entries[(child - 1) / 2].0 {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].0 < entries[least].0 {
                least = child
            }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}

extension Rotation {
    /// The clients that were touched and not yet planned, in the order of their names.
    mutating func takeTouchedClients() -> [Subject] { dirty.takeClients().sorted().map { index.all[$0] } }

    /// Has a resource and the clients that depend on it planned next.
    mutating func touch(_ resource: Resource) {
        switch resource {
        case .key(let name):
            dirty.touch(key: name)
            // Once is enough: a caller that goes through all clients of a key touches it for each of them.
            guard dirty.isFirstInBatch(resource) else { return }
            for client in index.clients(of: name) { touch(client) }
        case .client(let name), .verification(let name), .record(let name), .source(let name), .share(let name),
            .rollout(let name):
            if let client = index[name] { touch(client) }
        case .file(let path):
            dirty.touch(files: CollectionOfOne(path))
            for client in index.clients(of: path) { touch(client) }
        case .target(let name):
            touch(target: name)
            for client in index.clients(of: resource) { touch(client) }
        case .action(let id):
            dirty.touch(actions: CollectionOfOne(id))
            for client in index.clients(of: id) { touch(client) }
        case .probe(let id):
            dirty.touch(probe: id)
            for client in index.clients(of: id) { touch(client) }
        case .configuration, .store, .report, .fleet, .stateChangeAction, .state:
            // Every plan covers these.
            break
        }
    }

    mutating func touch(_ client: Subject) {
        if dirty.touch(client) { touch(filesAndActionsOf: client) }
    }

    /// Has a key planned next that was read, and the clients that wait for nothing else. Those whose records are still being
    /// read are planned when they were: at a start, when the key is read first, these are thousands.
    mutating func touchClients(waitingFor key: KeyName) {
        dirty.touch(key: key)
        for client in index.clients(of: key) where !isBeingRecalled(client) { touch(client) }
    }

    /// Has a file planned next, and the actions that wait for the job on it, but not its clients.
    mutating func touchAlone(_ path: AbsolutePath) {
        dirty.touch(files: CollectionOfOne(path))
        for client in index.clients(of: path) { dirty.touch(actions: client.actions) }
    }

    /// Has a client planned next, and its targets, but not its files and actions.
    ///
    /// An action that thousands of clients share looks at all of them each time it is planned.
    mutating func touchAlone(_ client: ClientName) {
        guard let client = index[client] else { return }
        dirty.touch(clientAlone: client)
        for output in client.targets { touch(target: output.target) }
    }

    mutating func touch(filesAndActionsOf client: Subject) {
        dirty.touch(files: client.files)
        for output in client.targets { touch(target: output.target) }
        dirty.touch(actions: client.actions)
    }

    /// Has a target planned next, and those that wait for it because they belong into the same document.
    private mutating func touch(target: TargetName) {
        dirty.touch(targets: CollectionOfOne(target))
        dirty.touch(targets: index.neighbours(of: target))
    }

    /// Has the next plan cover everything, as after the clock was set. Such a plan starts nothing that one over the
    /// touched resources would not.
    package mutating func touchEverything() {
        for key in keys.names { dirty.touch(key: key) }
        for client in index.all { touch(client) }
        dirty.touch(files: files.paths)
        dirty.touch(actions: index.actions.keys)
    }
}
