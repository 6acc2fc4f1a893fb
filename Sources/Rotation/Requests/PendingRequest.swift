import AppleClientSecret
import Model

/// A request that has no answer yet.
struct PendingRequest: Hashable, Sendable {
    let requestID: RequestID?
    let request: Request
    /// Jobs from this one on count as attempts on behalf of the request.
    let since: JobID
    var wantsConfiguration = false
    /// The clients to renew or deliver again; the other requested ones need nothing.
    var chosen: Set<ClientName> = []
    /// Clients of which too little is known yet to decide whether they are due.
    var undecided: Set<ClientName> = []
    /// Clients without an outcome yet, the next one last.
    var open: [ClientName] = []
    var outcomes: [RenewalOutcome] = []
    /// Clients for which nothing is minted, because of the clock or the configuration.
    var denied: [ClientName: Failure] = [:]
    /// Former outputs that still hold a secret, in words ready to show.
    var orphaned: [String] = []

    /// Whether nothing is to be minted or received, and only delivered what was not.
    var isDeliverOnly: Bool {
        if case .renew(let renewal) = request { renewal.deliverOnly } else { false }
    }
}
