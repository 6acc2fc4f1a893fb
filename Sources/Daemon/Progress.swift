import Rotation

/// How far a start has come.
struct Progress: Hashable {
    /// Clients whose outputs hold their secrets, or for which something failed.
    var done: Int
    var count: Int

    var words: String {
        "publishing \(done.grouped) of \(count.grouped) secret\(count == 1 ? "" : "s")"
    }
}

extension Snapshot {
    var progress: Progress {
        let done = clients.count { client in
            client.current != nil && client.outputs.allSatisfy { $0.state != .pending } || client.lastError != nil
        }
        return Progress(done: done, count: clients.count)
    }
}
