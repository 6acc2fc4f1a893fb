package import Model

/// Queries that only the simulator and the tests make. Users see ``snapshot(at:)``.
extension Rotation {
    /// The invariants that do not hold, in words for developers.
    package func checkInvariants() -> [String] {
        jobs.checkInvariants() + clients.checkInvariants() + fleet.checkInvariants()
            + stateChangeActions.checkInvariants() + waiting.checkInvariants()
    }

    /// A client's current secret; nil before the first one.
    package func current(of client: ClientName) -> SecretInfo? { index[client].flatMap { clients[$0].secret.current } }

    /// The secret that each action last ran for.
    package func delivered(to client: ClientName) -> [ActionID: SecretInfo] {
        index[client].map { clients[$0].deliveries.delivered } ?? [:]
    }

    /// Whether the state directory was asked for a client's record.
    package func wasRecalled(_ client: ClientName) -> Bool {
        index[client].map { clients[$0].record.wasTried } ?? false
    }

    /// The last seen content of a file; nil before it was read.
    package func observation(of path: AbsolutePath) -> FileObservation? { files[path]?.observed }

    /// Which key a key's file holds; nil while it cannot be used.
    package func digest(of key: KeyName) -> KeyDigest? { keys.digest(of: key) }
}
