import Rotation

/// When each client was last asked to be renewed, so that nobody keeps the rotation busy with it.
struct RenewalPace {
    private var lastAsked: [ClientName: Int64] = [:]

    /// Notes that all of `clients` are asked for at `now` (milliseconds of any clock that only runs forward).
    ///
    /// - Returns: nil when that may be; else the client that was asked for last and the milliseconds until it may be
    ///   asked for again, with nothing noted.
    mutating func ask(for clients: some Collection<ClientName>, at now: Int64, pause: Int64, isRoot: Bool)
        -> (client: ClientName, wait: Int64)?
    {
        lastAsked = lastAsked.filter { $0.value + pause > now }
        if !isRoot,
            let latest = clients.compactMap({ name in lastAsked[name].map { (name, $0) } }).max(by: { $0.1 < $1.1 })
        {
            return (latest.0, latest.1 + pause - now)
        }
        for client in clients { lastAsked[client] = now }
        return nil
    }
}
