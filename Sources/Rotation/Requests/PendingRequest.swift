import AppleClientSecret
import Model

/// A request that has no answer yet.
struct PendingRequest: Hashable, Sendable {
    let requestID: RequestID?
    let request: Request
    /// Jobs from this one on count as attempts on behalf of the request.
    let since: JobID
    var wantsConfiguration = false
    /// What came of reading the configuration for a reload; nil until then.
    var reload: ReloadOutcome?
    /// The clients to renew or deliver again that have no outcome yet; the other requested ones need nothing.
    var chosen: Set<ClientName> = []
    /// Clients of which too little is known yet to decide whether they are due.
    var undecided: Set<ClientName> = []
    /// Clients that were not found to have an outcome yet, the next one to be looked at last.
    var open: [ClientName] = []
    /// What came of each client.
    var results: [ClientName: RenewalOutcome.Result] = [:]
    /// Clients for which nothing is minted, because of the clock or the configuration.
    var denied: [ClientName: Failure] = [:]
    /// Former outputs that still hold a secret, in words ready to show.
    var orphaned: [String] = []

    enum ReloadOutcome: Hashable {
        case adopted
        /// It is not adopted, for these reasons.
        case refused([String])
    }

    /// Whether nothing is to be minted or received, and only delivered what was not.
    var isDeliverOnly: Bool {
        if case .renew(let renewal) = request { renewal.deliverOnly } else { false }
    }
}
