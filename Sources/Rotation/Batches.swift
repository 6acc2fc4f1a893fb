/// Caches, for one moment, which clients are in a batch with one that is due. All clients linked by shared files or
/// actions have the same answer, and it is needed for each of them.
struct Batches {
    fileprivate var answers: [ClientName: Bool] = [:]
}

extension Rotation {
    /// Whether a client is due that shares a file or an action with `client`, directly or through a chain of clients
    /// that may all be renewed early.
    ///
    /// Call it only for a client that may itself be renewed early.
    func isInDueBatch(_ client: Subject, at now: Now, _ batches: inout Batches) -> Bool {
        if let answer = batches.answers[client.name] { return answer }
        // Thousands of clients may share an action: visit each file and action once, not once per client.
        var joined = [client.name]
        var visited: Set<ClientName> = [client.name]
        var shared: Set<Resource> = []
        var next = 0
        var answer = false
        search: while next < joined.count {
            for resource in index.shared(by: joined[next]) where shared.insert(resource).inserted {
                for sharer in index.clients(of: resource) where visited.insert(sharer).inserted {
                    // Whoever receives its secrets renews nothing.
                    guard let entry = index.subjects[sharer]?.entry, entry.source == nil,
                        let current = renewal[sharer]?.current
                    else { continue }
                    // One whose next secret waits for Apple's verdict mints none now: the others were renewed early
                    // when that one was minted.
                    if now.wall >= entry.renewal(of: current, jitter: hostJitter), heldBack(sharer) == nil {
                        answer = true
                        break search
                    }
                    if now.wall >= entry.earliestRenewal(of: current, jitter: hostJitter) { joined.append(sharer) }
                }
            }
            next += 1
        }
        for name in joined { batches.answers[name] = answer }
        return answer
    }

    /// Touches the clients that share a file or an action with a renewed one, so that they are planned as well.
    mutating func touchBatch(of client: Subject) {
        for resource in index.shared(by: client.name) where scope.isFirstInBatch(resource) {
            for sharer in index.clients(of: resource) { touch(.client(sharer)) }
        }
    }
}

extension Index {
    /// The files and actions of a client, which others may share.
    fileprivate func shared(by client: ClientName) -> [Resource] {
        files(of: client).map(Resource.file) + actions(of: client).map(Resource.action)
    }
}
