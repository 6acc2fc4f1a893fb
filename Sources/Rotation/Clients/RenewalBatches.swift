import Model

/// Which clients are renewed together.
extension Rotation {
    /// The clients that may be renewed early, and share a file or an action with one that is due. They may share it directly,
    /// or through others that may be renewed early.
    ///
    /// It sets no wake: the plan of each client sets its own at the same moments.
    ///
    /// - Parameter clients: with each one, all that share something with it.
    func renewedTogether(_ clients: [ConfiguredClient], at now: Now) -> Set<ClientName> {
        var found: Set<ClientName> = []
        var open = clients.filter { isDue($0, at: now) }
        // A file or an action is visited once, not once for each of its clients.
        var visited: Set<Resource> = []
        while let client = open.popLast() {
            for resource in client.files.map(Resource.file) + client.actions.map(Resource.action)
            where visited.insert(resource).inserted {
                for sharer in index.clients(of: resource)
                where mayBeRenewedEarly(sharer, at: now) && found.insert(sharer.name).inserted {
                    open.append(sharer)
                }
            }
        }
        return found
    }

    /// Whether a client makes others due. A client whose next secret waits for Apple's verdict does not: the others were
    /// renewed when that secret was minted.
    private func isDue(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard let current = mintedSecret(of: client), pendingCandidate(client) == nil else { return false }
        return now.wall >= renewal(of: current, client)
    }

    private func mayBeRenewedEarly(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard let current = mintedSecret(of: client) else { return false }
        return now.wall >= client.entry.earliestRenewal(of: current, jitter: renewalJitter)
    }

    /// A client that receives its secrets renews nothing.
    private func mintedSecret(of client: ConfiguredClient) -> SecretInfo? {
        client.entry.source == nil ? clients[client].secret.current : nil
    }
}
