/// How often something was tried since the daemon started, by how it ended.
package struct Tally: Hashable, Sendable {
    package var successes: Int
    package var failures: Int

    package init(successes: Int = 0, failures: Int = 0) {
        self.successes = successes
        self.failures = failures
    }

    package mutating func count(success: Bool) {
        if success { successes += 1 } else { failures += 1 }
    }
}

/// Attempts for a client since the daemon started, or since the client was added to the configuration. Not persisted: consumers
/// of counters expect them to restart at zero.
package struct ClientCounts: Hashable, Sendable {
    package var mints = Tally()
    /// Secrets that were received from the client's source.
    package var received = 0
    /// Writes of files that hold one of the client's outputs.
    package var publishes = Tally()
    /// Runs of actions that deliver the client's secret.
    package var deliveries = Tally()

    package init() {}
}
