package import AppleClientSecret

/// What somebody asks the running daemon to do.
package enum Request: Hashable, Sendable {
    case renew(Renewal)
    /// Read the configuration again.
    case reload

    /// Which secrets are renewed, and how far.
    package struct Renewal: Hashable, Sendable {
        /// Empty: all clients.
        package var clients: Set<ClientName>
        /// Only secrets that are due within this span from now; nil: whatever their age.
        package var dueWithin: Seconds?
        /// Mint nothing; repeat what was not delivered.
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

/// Who makes a request, as the kernel knows it.
package struct Requester: Hashable, Sendable {
    package var user: UInt32
    /// Nil for one of another PID namespace.
    package var process: Int32?
    /// What the process calls itself, free of control characters; nil where it cannot be seen.
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
    /// The configuration was adopted; `unserved` names what it cannot serve, and `orphaned` what is no output any more and
    /// holds a secret, in words ready to show.
    case reloaded(unserved: [String], orphaned: [String] = [])
    /// The configuration's text does not pass, in lines ready to show; the old one stays in force.
    case refused(diagnostics: [String])
    case unknownClients([ClientName])
    /// The daemon is stopping.
    case stopping
}

/// What a renewal came to for one client.
package struct RenewalOutcome: Hashable, Sendable {
    package var client: ClientName
    package var result: Result

    package enum Result: Hashable, Sendable {
        /// A new secret is published and delivered.
        case renewed(SecretInfo)
        /// Nothing was to be made; the secret in force is published and delivered, which it was not before.
        case delivered(SecretInfo)
        /// Not due within the span that was asked for, or nothing to deliver: nothing was done.
        case untouched
        /// What stood in the way, in words ready to show; it goes on being tried, unless it was the clock.
        case failed(String)
    }

    package init(client: ClientName, result: Result) {
        self.client = client
        self.result = result
    }
}
