package import Model

/// What the daemon and the simulator look at besides snapshots.
extension Rotation {
    /// Whether no job runs.
    package var isIdle: Bool { jobs.isEmpty }

    /// How many jobs run.
    package var runningJobs: Int { jobs.count }

    /// The failures of work that has not succeeded since.
    package var failures: [Resource: Failure] { jobs.attempts.mapValues(\.failure) }

    /// A client's current secret; nil before the first one.
    package func current(of client: ClientName) -> SecretInfo? { index[client].flatMap { clients[$0].secret.current } }
}
