import AppleClientSecret
import Model

/// Which of two secrets is better.
///
/// - A secret that may be used replaces the current one if it is greater. It must also outlive the current one, or have more
///   life left than is critical for the longer-lived of both. An expired current secret yields to any that is valid.
/// - Of two secrets of one key, the greater is the one issued later, then the one with the greater digest of the signing input.
///   Of two keys, the one that the configuration names first wins whenever its secret was issued, unless that secret is
///   critical.
extension Rotation {
    /// Why a secret that may be used does not replace the current one; nil when it does.
    func objection(
        to issued: SecretInfo, over current: SecretInfo?, _ client: ConfiguredClient, _ timer: inout WakeTimer
    ) -> String? {
        // By a clock that is not trusted, or may be ahead, none counts as expired or critical: only a greater one replaces it.
        let tellsLife = clock.failure == nil && spared(client, &timer) == nil
        // Any usable secret replaces one that has expired, or that Apple refuses, such as one minted by a wrong clock.
        guard let current, let held = rank(of: current, client), let offered = rank(of: issued, client),
            !tellsLife || !timer.reached(current.expiresAt),
            refusal(of: current, for: client, &timer).map({ !tellsLife && $0.isAboutTime }) != false
        else { return nil }
        // The longer-lived secret defines too soon: an hour left is too little to replace one minted for 90 days.
        let critical = max(client.entry.criticalRemainder(of: issued), client.entry.criticalRemainder(of: current))
        if issued.expiresAt <= current.expiresAt, timer.reached(issued.expiresAt - critical) {
            return "it expires too soon, at \(issued.expiresAt)"
        }
        if offered == held {
            return issued.precedence > current.precedence ? nil : "it is older than the current one"
        }
        if offered > held, !tellsLife || !client.entry.isCritical(current, &timer) {
            return "a preferred key signed the current one"
        }
        return nil
    }
}
