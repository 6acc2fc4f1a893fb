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
