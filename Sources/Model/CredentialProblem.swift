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
