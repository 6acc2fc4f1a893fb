import AppleClientSecret
import Model

/// When each resource has to be planned again, ordered so that the next one is cheap to find: with ten thousand clients
/// and an input for each, a scan of all of them every time would be noticeable.
struct WakeQueue: Sendable {
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
