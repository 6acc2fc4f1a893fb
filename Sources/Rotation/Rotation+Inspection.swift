package import Model

/// What only the simulator and the tests ask; debug builds check the invariants after each plan, too. What users see is in
/// ``snapshot(at:)``.
extension Rotation {
    /// The invariants that do not hold, in words for developers.
    package func checkInvariants() -> [String] {
        jobs.checkInvariants() + clock.checkInvariants() + configurationWatch.checkInvariants()
            + keys.checkInvariants(configuration, next: jobs.next)
            + (clients.all.map(\.subject) == index.all ? [] : ["other clients than are configured"])
            + clients.checkInvariants(next: jobs.next) + files.checkInvariants(index.specs, next: jobs.next)
            + targets.checkInvariants(index) + probes.checkInvariants(index)
            + stateUpkeep.checkInvariants(index)
            + storeReading.checkInvariants(next: jobs.next) + admissions.checkInvariants(configuration)
            + reporting.checkInvariants(configuration) + fleet.checkInvariants(index)
            + faults.checkInvariants() + stateChangeActions.checkInvariants(configuration)
            + waiting.checkInvariants(next: jobs.next)
    }

    /// The secret that each action last ran for.
    package func delivered(to client: ClientName) -> [ActionID: SecretInfo] {
        index[client].map { clients[$0].deliveries.delivered } ?? [:]
    }

    /// Whether the state directory was asked for a client's record.
    package func wasRecalled(_ client: ClientName) -> Bool {
        index[client].map { clients[$0].record.wasTried } ?? false
    }

    /// What a file was last seen to hold; nil before it was read.
    package func observation(of path: AbsolutePath) -> FileObservation? { files[path]?.observed }

    /// Which key a key's file holds; nil while it cannot be used.
    package func digest(of key: KeyName) -> KeyDigest? { keys.digest(of: key) }
}
