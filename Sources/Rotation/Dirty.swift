import AppleClientSecret
import Model

/// What the next plan covers, and when that is: what was touched since the last plan, and what was to be woken.
///
/// A plan over everything would start nothing more, which the simulator checks. Of thousands of clients most have nothing to
/// do with an input.
struct Dirty: Sendable {
    private(set) var keys: Set<KeyName> = []
    /// By number (``ClientBatches``).
    private(set) var batches: Set<Int> = []
    private var wakes = WakeQueue()

    mutating func touch(key: KeyName) { keys.insert(key) }
    mutating func touch(batch: Int) { batches.insert(batch) }

    /// Ends a plan: nothing is touched from now on.
    mutating func clear() {
        keys = []
        batches = []
    }

    /// After a reload: clears all marks, and drops the wakes of resources that the new configuration lacks.
    mutating func adopt(where isKnown: (Resource) -> Bool) {
        clear()
        wakes.keep(where: isKnown)
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
}

extension Rotation {
    /// The clients that the next plan covers, in order.
    var touchedClients: [ConfiguredClient] { dirty.batches.flatMap { index.batches[$0] }.sorted() }

    /// Has a client planned next, with all that share something with it.
    mutating func touch(_ client: ConfiguredClient) { dirty.touch(batch: index.batches.number(of: client)) }

    /// Has a resource and the clients that depend on it planned next.
    mutating func touch(_ resource: Resource) {
        switch resource {
        case .key(let name):
            dirty.touch(key: name)
            for client in index.clients(of: name) { touch(client) }
        case .client(let name), .verification(let name), .record(let name), .source(let name), .share(let name),
            .rollout(let name):
            if let client = index[name] { touch(client) }
        case .file, .target, .action, .probe:
            // All clients of one are in one batch.
            if let client = index.clients(of: resource).first { touch(client) }
        case .configuration, .store, .report, .fleet, .stateChangeAction, .state:
            // Every plan covers these.
            break
        }
    }

    /// Has the next plan cover everything, as after the clock was set. Such a plan starts nothing that one over the
    /// touched batches would not.
    package mutating func touchEverything() {
        for key in keys.names { dirty.touch(key: key) }
        for client in index.all { touch(client) }
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
