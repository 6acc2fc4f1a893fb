import Model

extension Client {
    /// A client under a new configuration. It keeps its known state, except where the configuration invalidates it.
    ///
    /// - Parameter former: the client of this name under the configuration before; nil for a new one.
    init(_ subject: ConfiguredClient, _ former: Client?, _ change: ConfigurationChange) {
        let entry = subject.entry
        self.subject = subject
        if let former {
            secret = former.secret
            record = former.record
            readiness = former.readiness
            readiness.tryAgain()
            deliveries = former.deliveries
            health = former.health
        }
        if let source = entry.source {
            self.source = SecretSource(change.keepsSource(of: subject) ? former?.source : nil, next: change.next)
            turn = former?.turn?.within(source.deliverOver, at: change.now)
            // A request to mint is not carried out later, once the client mints again.
            secret.withdrawRequest()
            // A received secret was accepted where it was minted, so it has no verification.
        } else {
            verification = former?.verification
            if !entry.verify, verification?.candidate == nil { verification = nil }
        }
        if subject.isSharing, !change.isOfStore {
            share = former?.share
            rollout = former?.rollout
        }
        if entry.credential != nil { credential = former?.credential }
    }
}
