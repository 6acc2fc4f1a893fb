/// For which clients it was found out, at one moment, whether they stand beside one that is due. All that are joined by what
/// they share have the same answer, and it is asked for each of them.
struct Batches {
    fileprivate var answers: [ClientName: Bool] = [:]
}

extension Rotation {
    /// Whether a client that shares a file or an action is due by now, itself or by way of others it shares with.
    ///
    /// Asked only of clients that may be renewed early themselves.
    func isInDueBatch(_ client: Subject, at now: Now, _ batches: inout Batches) -> Bool {
        if let answer = batches.answers[client.name] { return answer }
        // Thousands may share an action: each file and action is gone through once, not once for each client.
        var joined = [client.name]
        var observed: Set<ClientName> = [client.name]
        var shared: Set<Resource> = []
        var next = 0
        var answer = false
        search: while next < joined.count {
            for resource in world.index.shared(by: joined[next]) where shared.insert(resource).inserted {
                for sharer in world.index.clients(of: resource) where observed.insert(sharer).inserted {
                    guard let entry = world.configuration.clients[sharer], let current = world.clients[sharer]?.current
                    else { continue }
                    if now.wall >= entry.renewal(of: current, jitter: hostJitter) {
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

    /// Has the clients that share a file or an action with one that is renewed planned as well.
    mutating func planBatch(_ client: Subject) {
        for resource in world.index.shared(by: client.name) where touched.batched.insert(resource).inserted {
            for sharer in world.index.clients(of: resource) { touch(.client(sharer)) }
        }
    }
}

extension Index {
    /// The files and actions of a client, which others may share.
    fileprivate func shared(by client: ClientName) -> [Resource] {
        files(of: client).map(Resource.file) + actions(of: client).map(Resource.action)
    }
}
