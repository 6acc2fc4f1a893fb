package import AppleClientSecret

/// A request to the running daemon.
package enum DaemonRequest: Hashable, Sendable {
    case renew(Renewal)
    /// Read the configuration again.
    case reload
    /// The reports of the fleet's machines: of those that are not up to date, or of all.
    case fleet(all: Bool)
    /// Have the rollout of a client's secret hold, go on or end.
    case rollout(ClientName, RolloutOrder)

    /// Which secrets to renew, and which steps to skip.
    package struct Renewal: Hashable, Sendable {
        /// Empty: all clients.
        package var clients: Set<ClientName>
        /// Only secrets that are due within this span from now; nil: whatever their age.
        package var dueWithin: Seconds?
        /// Mint nothing; only deliver undelivered secrets.
        package var deliverOnly: Bool
        package var skipVerify: Bool

        package init(
            clients: Set<ClientName> = [], dueWithin: Seconds? = nil, deliverOnly: Bool = false,
            skipVerify: Bool = false
        ) {
            self.clients = clients
            self.dueWithin = dueWithin
            self.deliverOnly = deliverOnly
            self.skipVerify = skipVerify
        }
    }
}

/// Identifies a request, so that its answer reaches the connection that made it.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
