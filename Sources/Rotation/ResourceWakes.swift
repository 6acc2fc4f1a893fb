import AppleClientSecret
import Model

/// When each resource has to be planned again.
struct ResourceWakes: Sendable {
    private var wanted: [Resource: Wake] = [:]

    subscript(_ resource: Resource) -> Wake {
        get { wanted[resource] ?? Wake() }
        set { wanted[resource] = newValue == Wake() ? nil : newValue }
    }

    /// Forgets every resource for which `isKept` is false.
    mutating func keep(where isKept: (Resource) -> Bool) {
        wanted = wanted.filter { isKept($0.key) }
    }

    /// Removes the moments that have come on either clock; returns their resources.
    mutating func takeReached(at now: Now) -> [Resource] {
        var reached: [Resource] = []
        for (resource, wake) in wanted {
            var left = wake
            if let moment = wake.wall, moment <= now.wall { left.wall = nil }
            if let moment = wake.boot, moment <= now.boot { left.boot = nil }
            guard left != wake else { continue }
            self[resource] = left
            reached.append(resource)
        }
        return reached
    }

    /// The earliest moment on each clock.
    var earliest: Wake {
        var earliest = Wake()
        for wake in wanted.values { earliest.formEarliest(with: wake) }
        return earliest
    }
}
