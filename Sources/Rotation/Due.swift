package import AppleClientSecret

extension ClientConfiguration {
    /// Two scheduled renewals of one client are at least this far apart, whatever the configuration says.
    package static let shortestInterval: Seconds = 60

    /// The part of `renew_before` within which renewals are spread over hosts and drawn together on one.
    private static let spread: Int64 = 20

    /// When `issued` is replaced.
    ///
    /// - Parameter jitter: from 0 to 1, fixed for a host, so that a fleet does not act at one moment and a restart
    ///   moves nothing.
    package func renewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        let early = Seconds(Int64(Double(window.count) * jitter))
        return max(end(of: issued) - renewBefore - early, floor(of: issued))
    }

    /// From when on `issued` is replaced together with another secret that is due and shares a file or an action.
    func earliestRenewal(of issued: SecretInfo, jitter: Double) -> WallTime {
        max(renewal(of: issued, jitter: jitter) - window, floor(of: issued))
    }

    private func floor(of issued: SecretInfo) -> WallTime {
        issued.issuedAt + Claims.backdating + Self.shortestInterval
    }

    /// How much earlier than its own time a secret is replaced together with one that shares a file or an action.
    private var window: Seconds { renewBefore / Self.spread }

    /// How far a life that ends at `expiry` has run down.
    func stage(expiringAt expiry: WallTime, _ deadlines: inout Deadlines) -> Stage {
        if !deadlines.reached(expiry - renewBefore) { return .fresh }
        if !deadlines.reached(expiry - criticalRemainder) { return .warning }
        return deadlines.reached(expiry) ? .expired : .critical
    }

    /// Remaining life at which a secret that is still not replaced becomes critical.
    package var criticalRemainder: Seconds { renewBefore / 3 }
}
