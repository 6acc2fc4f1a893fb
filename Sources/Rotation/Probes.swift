extension Rotation {
    /// Probes actions after a start or a reload, as `check` does, to report what would keep one from running before a
    /// renewal meets it. Waits until every client was tried, which matters more.
    mutating func planProbes(at now: Now, _ step: inout Step) {
        guard isReady else { return }
        for id in unprobed.union(touched.probes).sorted() {
            var deadlines = Deadlines(now: now)
            defer { wakes[.probe(id)] = deadlines.wake }
            // A failed probe is repeated until it succeeds.
            guard let action = world.index.probes[id], unprobed.contains(id) || world.attempts[.probe(id)] != nil else {
                continue
            }
            if start(.probe(action), on: .probe(id), &deadlines, &step) { unprobed.remove(id) }
        }
    }

    /// Whether probes of actions are still to run or to end, other than overdue ones.
    var isProbing: Bool {
        unprobed.contains { !isOverdue(.probe($0)) } || world.running.keys.contains { $0.isProbe && isBusy($0) }
    }
}
