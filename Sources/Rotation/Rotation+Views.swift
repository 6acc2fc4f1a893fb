package import Model

/// What the daemon and the simulator look at in addition to snapshots.
extension Rotation {
    /// Whether no job runs.
    package var isIdle: Bool { jobs.isEmpty }

    /// How many jobs run.
    package var runningJobs: Int { jobs.count }

    /// The failures of work that has not succeeded since.
    package var failures: [Resource: Failure] { jobs.attempts.mapValues(\.failure) }

    /// Whether a client that receives its secrets has none of its configured keys and ids, so that its source has to offer one.
    package func needsSource(_ client: ClientName) -> Bool { index[client].map { receivedSecret($0) == nil } ?? false }
}
