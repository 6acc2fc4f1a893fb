import Model

/// The resources that a client depends on, and their failures.
extension Rotation {
    /// Everything whose failure keeps a client from being served. Its source is not included, because the current secret may
    /// last.
    func resources(of client: ConfiguredClient) -> [Resource] {
        var all: [Resource] = client.keys.map { .key($0.name) }
        all += [.client(client.name), .verification(client.name)]
        all += client.files.map(Resource.file)
        all += client.targets.map { .target($0.target) }
        all += client.actions.map(Resource.action)
        all += client.actions.map(Resource.probe)
        // Last: a record that was not written does no harm before the next start.
        all.append(.record(client.name))
        return all
    }

    /// The failure of a resource that keeps this client from being served. An action's failure counts only while the action is
    /// due for this client: it may have failed for another client, or for an earlier secret.
    func attempts(at resource: Resource, for client: ConfiguredClient) -> FailedAttempts? {
        if case .action(let id) = resource, !owes(client, id) || runs[id]?.waitsFor != nil { return nil }
        return jobs.attempts[resource]
    }

    /// The failures that keep a client from being served, and that count for a condition. A failure of its record does not
    /// count: without a record the secret is still published and delivered.
    func failures(of client: ConfiguredClient, where counts: (FailedAttempts) -> Bool) -> [Failure] {
        guard jobs.hasFailure else { return [] }
        return resources(of: client).filter { $0 != .record(client.name) }.compactMap { resource in
            // The current secret is published and delivered whatever Apple's verdict is.
            if resource == .verification(client.name), pendingCandidate(client) == nil { return nil }
            if let attempts = attempts(at: resource, for: client), counts(attempts) { return attempts.failure }
            return overdueFailure(of: resource)
        }
    }
}
