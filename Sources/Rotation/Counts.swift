/// How often something was tried since the daemon started, by how it ended.
package struct Tally: Hashable, Sendable {
    package var successes: Int
    package var failures: Int

    package init(successes: Int = 0, failures: Int = 0) {
        self.successes = successes
        self.failures = failures
    }

    mutating func count(success: Bool) {
        if success { successes += 1 } else { failures += 1 }
    }
}

/// What was tried for a client since the daemon started, or since the client came into the configuration. Never kept:
/// whoever adds counters up knows that they begin again at zero.
package struct Counts: Hashable, Sendable {
    package var mints = Tally()
    /// Writes of files that hold one of the client's outputs.
    package var publishes = Tally()
    /// Runs of actions that told of the client's secret.
    package var deliveries = Tally()

    package init() {}
}

extension Rotation {
    /// Counts how a job ended, for each client that it was done for.
    mutating func count(_ job: Job, success: Bool) {
        switch job.work {
        case .mint(let client, _, _):
            world.clients[client]?.counts.mints.count(success: success)
        case .publish(let spec, let secrets, _):
            // A client may have several variables in one file, which is one write all the same.
            for client in Set(secrets.keys.compactMap { spec.slots[$0] }) {
                world.clients[client]?.counts.publishes.count(success: success)
            }
        case .run(_, let covering):
            for client in covering.keys { world.clients[client]?.counts.deliveries.count(success: success) }
        case .readConfiguration, .checkConfiguration, .readKey, .recall, .observe, .keep, .probe, .recallReportedStates,
            .keepReportedStates, .tidyRecords:
            break
        }
    }
}
