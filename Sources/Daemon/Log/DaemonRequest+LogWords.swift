import AppleClientSecret
import Linux
import Model

// The requester and the request, in the words of log lines.

extension Requester {
    /// As the kernel reports the peer. A process chooses its command's name itself.
    init(_ peer: Peer) {
        self.init(
            user: peer.user, process: peer.process > 0 ? peer.process : nil,
            command: peer.command.map { name in
                String(decoding: name.map { $0.isASCIIPrintable ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            })
    }

    var words: String {
        let known = [process.map { "process \($0)" }, command.map { "\"\($0)\"" }].compactMap { $0 }
        return "user \(user)" + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
    }
}

extension DaemonRequest {
    /// The request, as the end of a sentence.
    var words: String {
        switch self {
        case .reload: "reload the configuration"
        case .fleet: "show the fleet"
        case .rollout(let client, let order): "\(order.rawValue) the rollout of \(client)"
        case .renew(let renewal):
            (renewal.deliverOnly ? "deliver again " : "renew ") + Self.list(renewal.clients)
                + (renewal.skipVerify ? ", without asking Apple" : "")
                + (renewal.dueWithin.map { ", where due within \($0.count) s" } ?? "")
        }
    }

    private static func list(_ clients: Set<ClientName>) -> String {
        if clients.isEmpty { return "all clients" }
        return listed(clients.sorted().lazy.map(\.description), atMost: namedClients)
    }

    /// How many a log line names; the journal's fields have all of them.
    private static var namedClients: Int { 12 }
}
