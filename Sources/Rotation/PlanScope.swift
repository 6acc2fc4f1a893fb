import AppleClientSecret
import Model

/// The clients and resources that the next plan covers, and its time: those touched since the last plan, and those due to wake.
///
/// A plan over everything would start nothing more, which the simulator checks. Of thousands of clients most have nothing to
/// do with an input.
struct PlanScope: Sendable {
    var keys: Set<KeyName> = []
    /// By number (``ClientBatches``).
    var batches: Set<Int> = []
    /// When each resource has to be planned again.
    private var wakes: [Resource: Wake] = [:]
    /// The resources whose next wake this plan has decided on.
    private var woken: Set<Resource> = []

    /// Ends a plan: nothing is touched from now on.
    mutating func clear() {
        keys.removeAll(keepingCapacity: true)
        batches.removeAll(keepingCapacity: true)
        woken.removeAll(keepingCapacity: true)
    }

    /// After a reload: clears all marks, and drops the wakes of resources that the new configuration lacks.
    mutating func adopt(where isKnown: (Resource) -> Bool) {
        clear()
        wakes = wakes.filter { isKnown($0.key) }
    }

    // MARK: When to plan again

    /// Sets when a resource is to be planned again, in place of an earlier plan's decision. Several parts of one plan may
    /// ask for the same resource, in any order: the earliest of their moments counts.
    mutating func wake(_ resource: Resource, at timer: WakeTimer) {
        var wake = timer.wake
        if !woken.insert(resource).inserted, let asked = wakes[resource] { wake.formEarliest(with: asked) }
        wakes[resource] = wake == Wake() ? nil : wake
    }

    /// Removes the moments that have come on either clock; returns their resources.
    mutating func takeReached(at now: Now) -> [Resource] {
        var reached: [Resource] = []
        for (resource, wake) in wakes {
            var left = wake
            if let moment = wake.wall, moment <= now.wall { left.wall = nil }
            if let moment = wake.boot, moment <= now.boot { left.boot = nil }
            guard left != wake else { continue }
            wakes[resource] = left == Wake() ? nil : left
            reached.append(resource)
        }
        return reached
    }

    /// The earliest moment on each clock.
    var earliestWake: Wake {
        wakes.values.reduce(into: Wake()) { $0.formEarliest(with: $1) }
    }
}

extension Rotation {
    /// The clients that the next plan covers, in order.
    var touchedClients: [ConfiguredClient] { scope.batches.flatMap { index.batches[$0] }.sorted() }

    /// Has a client planned next, with all that share something with it.
    mutating func touch(_ client: ConfiguredClient) { scope.batches.insert(index.batches.number(of: client)) }

    /// Has a resource and the clients that depend on it planned next.
    mutating func touch(_ resource: Resource) {
        switch resource {
        case .key(let name):
            scope.keys.insert(name)
            for client in index.clients(of: .key(name)) { touch(client) }
        case .client, .verification, .record, .source, .share, .rollout:
            if let client = resource.client.flatMap({ index[$0] }) { touch(client) }
        case .file, .target, .action, .probe:
            // All clients of one resource are in one batch.
            if let client = index.clients(of: resource).first { touch(client) }
        case .configuration, .store, .report, .fleet, .stateChangeAction, .state, .metricsFile:
            // Every plan covers these.
            break
        }
    }

    /// Has the next plan cover everything, as after the clock was set. Such a plan starts nothing that one over the
    /// touched batches would not.
    package mutating func touchEverything() {
        scope.keys.formUnion(keys.names)
        for client in index.all { touch(client) }
    }
}
