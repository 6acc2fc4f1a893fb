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

/// The process that makes a request, as the kernel reports it.
package struct Requester: Hashable, Sendable {
    package var user: UInt32
    /// Nil for a process in another PID namespace.
    package var process: Int32?
    /// The process's own name for itself, without control characters; nil if it cannot be read.
    package var command: String?

    package init(user: UInt32, process: Int32?, command: String?) {
        self.user = user
        self.process = process
        self.command = command
    }
}

/// How a request ended.
package enum Answer: Hashable, Sendable {
    /// One entry for each client that was asked for, in the order of their names.
    case renewed([RenewalOutcome])
    /// The configuration was adopted. `unserved` names the parts that it cannot serve, and `orphaned` the former outputs that
    /// still hold a secret, both ready to show.
    case reloaded(unserved: [String], orphaned: [String] = [])
    /// The configuration was refused. With the reasons in lines ready to show; the old one stays.
    case refused(diagnostics: [String])
    /// The configuration could not be read, whatever its text says; the old one stays.
    case unread(diagnostics: [String])
    case unknownClients([ClientName])
    case fleet(FleetView)
    /// The machines' reports could not be read; nil on a machine that puts no such secret into a store.
    case noFleet(Failure?)
    /// The progress of the rollout that carried out the order.
    case rollout(RolloutView)
    /// It did not, because of this failure; nil if there is no rollout that is not finished.
    case noRollout(Failure?)
    /// It was not done before a new secret, a reload or another order came.
    case rolloutOvertaken
    /// The daemon is stopping.
    case stopping
}

/// The result of a renewal for one client.
package struct RenewalOutcome: Hashable, Sendable {
    package var client: ClientName
    package var result: Result

    package enum Result: Hashable, Sendable {
        /// A new secret is published and delivered.
        case renewed(SecretInfo)
        /// Nothing was minted; the current secret, which may have been received just now, is published and delivered.
        case delivered(SecretInfo)
        /// Not due within the requested span, or nothing to deliver: nothing was done.
        case untouched
        /// The failure, in words ready to show; it is retried, unless the clock or configuration prevents minting.
        case failed(String)
    }

    package init(client: ClientName, result: Result) {
        self.client = client
        self.result = result
    }
}

/// Identifies a request, so that its answer reaches the connection that made it.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
