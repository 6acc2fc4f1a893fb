package import AppleClientSecret

extension ClientConfiguration {
    /// Two scheduled renewals of one client are at least this far apart, whatever the configuration says.
    package static let shortestInterval: Seconds = 60

    /// `renew_before` divided by this is the window in which renewals are spread over hosts and batched on one host.
    private static let spread: Int64 = 20

    /// When `issued` is replaced.
    ///
    /// - Parameter jitter: from 0 to 1, fixed for a host, so that a fleet does not renew at one moment and a restart
    ///   does not move renewals.
    package func renewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        let early = Seconds(Int64(Double(window.count) * jitter))
        return max(end(of: issued) - renewBefore - early, floor(of: issued))
    }

    /// From when `issued` is replaced in a batch with another secret that is due and shares a file or an action.
    func earliestRenewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        max(renewal(of: issued, jitter: jitter) - window, floor(of: issued))
    }

    private func floor(of issued: SecretInfo) -> WallTime {
        issued.issuedAt + Claims.backdating + Self.shortestInterval
    }

    /// How much earlier than its own renewal time a secret may be replaced in a batch.
    private var window: Seconds { renewBefore / Self.spread }

    /// The stage of a secret's remaining life when it expires at `expiry`.
    func stage(expiringAt expiry: WallTime, _ deadlines: inout Deadlines) -> Stage {
        if !deadlines.reached(expiry - renewBefore) { return .fresh }
        if !deadlines.reached(expiry - criticalRemainder) { return .warning }
        return deadlines.reached(expiry) ? .expired : .critical
    }

    /// Remaining life at which a secret that is still not replaced becomes critical.
    package var criticalRemainder: Seconds { renewBefore / 3 }
}
