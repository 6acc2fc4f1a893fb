package import AppleClientSecret

extension ClientConfiguration {
    /// Two scheduled renewals of one client are at least this far apart, whatever the configuration says; so no secret is minted
    /// for less.
    package static let shortestInterval = Lifetime.minimum

    /// `renew_before` divided by this is the window in which renewals are spread over hosts and batched on one host.
    private static let spread: Int64 = 20

    /// When a secret stops counting: at its own expiry, or sooner if the configured lifetime was shortened since.
    package func end(of issued: SecretInfo) -> WallTime {
        min(issued.expiresAt, issued.mintedAt + lifetime.seconds)
    }

    /// When `issued` is replaced.
    ///
    /// - Parameter jitter: from 0 to 1, fixed for a machine. So a fleet does not renew at one moment, and a restart does not
    ///   move renewals.
    package func renewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        // A received secret is renewed by its signer, by that machine's jitter.
        let early = source == nil ? Seconds(Int64(Double(window.count) * jitter)) : 0
        return max(end(of: issued) - renewBefore(of: issued) - early, floor(of: issued))
    }

    /// From when `issued` is replaced in a batch with another secret that is due and shares a file or an action.
    package func earliestRenewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        max(renewal(of: issued, jitter: jitter) - window, floor(of: issued))
    }

    private func floor(of issued: SecretInfo) -> WallTime {
        issued.mintedAt + Self.shortestInterval
    }

    /// How much earlier than its own renewal time a secret may be replaced in a batch.
    private var window: Seconds { renewBefore / Self.spread }

    /// How long before its expiry a secret should have been replaced. Without a configured time, a received one is judged by
    /// its own lifetime.
    package func renewBefore(of issued: SecretInfo) -> Seconds {
        guard let source else { return renewBefore }
        if let configured = source.renewBefore { return configured }
        return Self.standardRenewBefore(ofLife: issued.expiresAt - issued.mintedAt)
    }
}

/// When a secret that is not replaced becomes critical.
extension ClientConfiguration {
    /// Remaining life at which a secret becomes critical that should have been replaced this long before its expiry.
    package static func criticalRemainder(renewBefore: Seconds) -> Seconds { renewBefore / 3 }

    /// Remaining life at which this secret becomes critical if it is still not replaced.
    package func criticalRemainder(of secret: SecretInfo) -> Seconds {
        Self.criticalRemainder(renewBefore: renewBefore(of: secret))
    }

    /// When this secret becomes critical.
    package func criticalAt(_ secret: SecretInfo) -> WallTime { secret.expiresAt - criticalRemainder(of: secret) }

    /// Whether this secret is critical, or has expired.
    package func isCritical(_ secret: SecretInfo, _ timer: inout WakeTimer) -> Bool {
        timer.reached(criticalAt(secret))
    }

    /// The stage of a secret's remaining life.
    package func stage(of secret: SecretInfo, _ timer: inout WakeTimer) -> ExpiryStage {
        if !timer.reached(secret.expiresAt - renewBefore(of: secret)) { return .fresh }
        if !isCritical(secret, &timer) { return .warning }
        return timer.reached(secret.expiresAt) ? .expired : .critical
    }
}

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
