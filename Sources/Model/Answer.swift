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
        /// Not due within the requested span, or nothing left to repeat: nothing was done, or what is left waits for its turn.
        case untouched
        /// The failure, in words ready to show; it is retried, unless the clock or configuration prevents minting.
        case failed(String)
    }

    package init(client: ClientName, result: Result) {
        self.client = client
        self.result = result
    }
}
