import AppleClientSecret
import Model

/// A request that has no answer yet.
struct PendingRequest: Hashable, Sendable {
    let requestID: RequestID?
    let request: DaemonRequest
    /// Jobs from this one on count as attempts on behalf of the request.
    let since: JobID
    /// How far a reload is; nil for other requests.
    var reload: Reload?
    /// Former outputs that still hold a secret, in words ready to show.
    var orphaned: [String] = []
    /// Clients of which too little is known yet to decide whether a renewal applies to them.
    var undecided: Set<ClientName> = []
    /// Clients that are to be renewed or delivered again, and have no result yet.
    var chosen: Set<ClientName> = []
    var results: [ClientName: RenewalOutcome.Result] = [:]

    enum Reload: Hashable {
        case wanted
        case reading
        case adopted
        /// It is not adopted, for these reasons.
        case refused([String])
    }

    /// Whether it waits for a client.
    var isWaiting: Bool { !undecided.isEmpty || !chosen.isEmpty }

    /// Whether nothing is to be minted or received, and only delivered what was not.
    var isDeliverOnly: Bool {
        if case .renew(let renewal) = request { renewal.deliverOnly } else { false }
    }

    /// Records what came of a client, for which nothing more is to be done.
    mutating func end(_ client: ClientName, _ result: RenewalOutcome.Result) {
        undecided.remove(client)
        chosen.remove(client)
        results[client] = result
    }
}
