import AppleClientSecret

/// What the credential socket hands out for a client from now on.
package struct Served: Hashable, Sendable {
    package let client: ClientName
    /// Nil: there is nothing to hand out, and whoever asks waits.
    package let secret: SecretInfo?

    package init(client: ClientName, secret: SecretInfo?) {
        self.client = client
        self.secret = secret
    }
}

/// Whom the credential socket refused, and why.
package enum CredentialRefusal: Hashable, Sendable {
    /// Not root, whatever it asked for.
    case stranger(user: UInt32)
    /// Root, but not from an address by which systemd asks for a unit.
    case noUnit
    /// No client's `credential` is for this unit and of this name.
    case notConfigured(ServedCredential)
    /// There is no secret yet.
    case noSecret(ServedCredential, ClientName)
    /// There is no secret yet, and the daemon stops.
    case stopping(ServedCredential)
}

extension Rotation {
    /// Has a client's secret handed out once it is settled, as its outputs would hold it: an application that starts
    /// must not be given what a restart of the daemon would have forgotten. Until then it is the one before, unless
    /// that was made for ids which are not the configured ones any more.
    mutating func planServed(_ client: Subject, _ step: inout Step) {
        guard client.entry.credential != nil else { return }
        let name = client.name
        let before = served[name]
        let isStill = before.map { client.entry.names($0, key: client.key) } ?? false
        let now = world.clients[name]?.isSettled == true ? wantedSecret(client) : isStill ? before : nil
        guard now != before else { return }
        served[name] = now
        step.served.append(Served(client: name, secret: now))
    }
}
