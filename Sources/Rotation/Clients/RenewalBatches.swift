import Model

/// Which clients are to be renewed together with one that is due, for one moment. All clients that are linked by shared
/// files or actions, and may be renewed early, have the same answer.
struct RenewalBatches {
    /// By ``ConfiguredClient/order``.
    fileprivate var answers: [Int: Bool] = [:]
}

extension Rotation {
    /// Whether a client is due that shares a file or an action with `client`, directly or through a chain of clients
    /// that may all be renewed early.
    ///
    /// Call it only for a client that may itself be renewed early. It sets no wake: the plan of each client in the batch sets
    /// its own, for the same moments.
    func isInDueBatch(_ client: ConfiguredClient, at now: Now, _ batches: inout RenewalBatches) -> Bool {
        if let answer = batches.answers[client.order] { return answer }
        // Visit each shared file and action once, not once for each of its clients.
        var joined = [client]
        var visited: Set<Int> = [client.order]
        var shared: Set<Resource> = []
        var next = 0
        var answer = false
        search: while next < joined.count {
            for resource in joined[next].joining where shared.insert(resource).inserted {
                for sharer in index.clients(of: resource) where visited.insert(sharer.order).inserted {
                    // A client that receives its secrets renews nothing.
                    guard sharer.entry.source == nil, let current = clients[sharer].secret.current else { continue }
                    // One whose next secret waits for Apple's verdict mints none now: the others were renewed early
                    // when that one was minted.
                    if now.wall >= sharer.entry.renewal(of: current, jitter: hostJitter),
                        pendingCandidate(sharer) == nil
                    {
                        answer = true
                        break search
                    }
                    if now.wall >= sharer.entry.earliestRenewal(of: current, jitter: hostJitter) {
                        joined.append(sharer)
                    }
                }
            }
            next += 1
        }
        for sharer in joined { batches.answers[sharer.order] = answer }
        return answer
    }
}

extension ConfiguredClient {
    /// The files and actions that other clients may share.
    fileprivate var joining: [Resource] { files.map(Resource.file) + actions.map(Resource.action) }
}
