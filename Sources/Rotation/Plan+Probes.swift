extension Rotation {
    /// Has actions looked at that are known since the start or a reload, as `check` does: what would keep one from being
    /// carried out is said before a renewal meets it. Until every client was tried, that goes before.
    mutating func planProbes(at now: Now, _ step: inout Step) {
        guard isReady else { return }
        for id in unprobed.union(touched.probes).sorted() {
            var deadlines = Deadlines(now: now)
            defer { wakes[.probe(id)] = deadlines.wake }
            // What is found to be in the way is looked for until it is gone.
            guard let action = world.index.probes[id], unprobed.contains(id) || world.attempts[.probe(id)] != nil else {
                continue
            }
            if start(.probe(action), on: .probe(id), &deadlines, &step) { unprobed.remove(id) }
        }
    }

    /// Whether something is still to be found out of actions that a reload has brought.
    var isProbing: Bool {
        unprobed.contains { !isOverdue(.probe($0)) } || world.running.keys.contains { $0.isProbe && isBusy($0) }
    }
}
