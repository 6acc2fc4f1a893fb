/// A secret served to a unit's `LoadCredential=` from the credential socket.
package struct ServedCredential: Hashable, Sendable {
    /// The unit's own name as systemctl shows it, escapes included, never an alias. A template such as `app@.service`
    /// means all of its instances; a credential for an instance's own name takes precedence.
    package var unit: String
    /// The name that `LoadCredential=` gives it.
    package var name: String

    package init(unit: String, name: String) {
        self.unit = unit
        self.name = name
    }
}

/// The secret that the credential socket serves for a client from now on.
package struct ServedSecret: Hashable, Sendable {
    package let client: ClientName
    /// Nil: there is none to serve, and requests for it wait.
    package let secret: SecretInfo?

    package init(client: ClientName, secret: SecretInfo?) {
        self.client = client
        self.secret = secret
    }
}

/// Why the credential socket refused a request.
package enum CredentialProblem: Hashable, Sendable {
    /// The peer is not root, whatever it requested.
    case notRoot(user: UInt32)
    /// The peer is root, but did not connect from an address in which systemd names a unit.
    case noUnit
    /// No client has a `credential` of this name for this unit.
    case notConfigured(ServedCredential)
    /// There is no secret yet.
    case noSecret(ServedCredential, ClientName)
    /// There is no secret yet, and the daemon is stopping.
    case stopping(ServedCredential)
}
