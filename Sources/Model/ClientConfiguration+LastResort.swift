package import AppleClientSecret

extension ClientConfiguration {
    /// From when a machine that a rollout does not admit notifies its applications, so that a rollout that is held
    /// lets no secret expire: when half of `renew_before` is left, spread by rank over a twentieth of it.
    ///
    /// - Parameters:
    ///   - offered: the secret that the rollout holds back.
    ///   - held: the secret that the applications hold.
    package func lastResort(for offered: SecretInfo, over held: SecretInfo, rank: UInt64) -> WallTime {
        let span = renewBefore(of: held)
        // If its signer was down, a secret is newer than that moment and counts from its issue. Otherwise all machines would
        // deliver it at once.
        let start = max(held.expiresAt - span / 2, offered.issuedAt)
        return start + RolloutRank.part(rank, of: span / 20)
    }
}
