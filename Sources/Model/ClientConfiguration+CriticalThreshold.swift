package import AppleClientSecret

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
