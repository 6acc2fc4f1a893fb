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
