import Model

/// Clients that share a file, an action or a document behind an API, directly or through others. An event of one client may
/// concern all of them, so they are planned together. Most batches are a single client.
struct ClientBatches: Sendable {
    private let all: [[ConfiguredClient]]
    /// The position in ``all`` of each client's batch, by ``ConfiguredClient/order``.
    private let positions: [Int]

    /// - Parameters:
    ///   - clients: in order.
    ///   - groups: those that share something.
    init(_ clients: [ConfiguredClient], sharing groups: some Sequence<[ConfiguredClient]>) {
        // Each client points, through others, to one that represents its batch.
        var next = Array(clients.indices)
        func representative(_ client: Int) -> Int {
            var client = client
            while next[client] != client {
                next[client] = next[next[client]]
                client = next[client]
            }
            return client
        }
        for group in groups {
            for client in group.dropFirst() { next[representative(client.order)] = representative(group[0].order) }
        }
        var all: [[ConfiguredClient]] = []
        var positionOf: [Int: Int] = [:]
        positions = clients.map { client in
            let position = positionOf[representative(client.order), default: all.count]
            positionOf[representative(client.order)] = position
            if position == all.count { all.append([]) }
            all[position].append(client)
            return position
        }
        self.all = all
    }

    /// The number of a client's batch.
    func number(of client: ConfiguredClient) -> Int { positions[client.order] }

    /// The clients of a batch, in order.
    subscript(_ number: Int) -> [ConfiguredClient] { all[number] }
}
