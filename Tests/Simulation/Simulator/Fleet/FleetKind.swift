/// How the secrets of a fleet are handed on.
package enum FleetKind: Sendable {
    /// Something copies a signer's secret into a file on each follower.
    case files
    /// Signers put their secrets into a store, from which followers read them.
    case store
    /// Around a store, too; and signers let a few machines deliver first.
    case rollouts
}
