package import AppleClientSecret

extension ClientConfiguration {
    /// Two scheduled renewals of one client are at least this far apart, whatever the configuration says.
    package static let shortestInterval: Seconds = 60

    /// `renew_before` divided by this is the window in which renewals are spread over hosts and batched on one host.
    private static let spread: Int64 = 20

    /// When a secret stops counting: at its own expiry, or sooner if the configured lifetime was shortened since.
    package func end(of issued: SecretInfo) -> WallTime {
        min(issued.expiresAt, issued.issuedAt + Claims.backdating + lifetime.seconds)
    }

    /// When `issued` is replaced.
    ///
    /// - Parameter jitter: from 0 to 1, fixed for a host, so that a fleet does not renew at one moment and a restart
    ///   does not move renewals.
    package func renewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        // Others renew what is received, at the latest without any jitter.
        let early = source == nil ? Seconds(Int64(Double(window.count) * jitter)) : 0
        return max(end(of: issued) - renewBefore(of: issued) - early, floor(of: issued))
    }

    /// From when `issued` is replaced in a batch with another secret that is due and shares a file or an action.
    package func earliestRenewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        max(renewal(of: issued, jitter: jitter) - window, floor(of: issued))
    }

    private func floor(of issued: SecretInfo) -> WallTime {
        issued.issuedAt + Claims.backdating + Self.shortestInterval
    }

    /// How much earlier than its own renewal time a secret may be replaced in a batch.
    private var window: Seconds { renewBefore / Self.spread }

    /// The stage of a secret's remaining life when it expires at `expiry`.
    ///
    /// - Parameter current: the current secret, whose life sets the thresholds of one that was received.
    package func stage(expiringAt expiry: WallTime, _ current: SecretInfo?, _ deadlines: inout Deadlines) -> Stage {
        if !deadlines.reached(expiry - renewBefore(of: current)) { return .fresh }
        if !deadlines.reached(expiry - criticalRemainder(of: current)) { return .warning }
        return deadlines.reached(expiry) ? .expired : .critical
    }

    /// How long before its expiry a secret should have been replaced: for a received one a third of its life, unless
    /// the configuration says otherwise.
    package func renewBefore(of issued: SecretInfo?) -> Seconds {
        guard let source else { return renewBefore }
        if let configured = source.renewBefore { return configured }
        guard let issued else { return renewBefore }
        return max(Seconds((issued.expiresAt - issued.issuedAt - Claims.backdating).count / 3), 0)
    }

    /// Remaining life at which this secret becomes critical if it is still not replaced.
    package func criticalRemainder(of issued: SecretInfo?) -> Seconds { renewBefore(of: issued) / 3 }

    /// Remaining life at which a minted secret that is still not replaced becomes critical.
    package var criticalRemainder: Seconds { renewBefore / 3 }
}
