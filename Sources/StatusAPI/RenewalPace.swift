import Rotation

/// When the renewal of each client was last requested, so that no user keeps the rotation busy with requests.
struct RenewalPace {
    private var lastAsked: [ClientName: Int64] = [:]

    /// Records that `clients` are requested at `now` (milliseconds of any clock that only runs forward).
    ///
    /// - Returns: nil when the request is permitted; else the client that was requested last and the milliseconds until
    ///   it may be requested again, and nothing is recorded.
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
