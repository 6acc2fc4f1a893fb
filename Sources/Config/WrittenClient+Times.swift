import AppleClientSecret
import Model

/// For how long a client's secrets are valid, and when they are renewed.
extension WrittenClient {
    /// Every received secret is used until it expires; its own life decides how early it should be replaced.
    var receivedTimes: (lifetime: Lifetime, renewBefore: Seconds)? {
        if settings.renewBefore.isWrong { return nil }
        let longest = Lifetime.longest(of: kind)
        let standard = ClientConfiguration.standardRenewBefore(ofLife: longest.seconds)
        return (longest, settings.renewBefore.value ?? standard)
    }

    /// Those of a client that mints; nil, with an error, if they do not fit each other or its kind.
    func times(_ diagnostics: Diagnostics) -> (lifetime: Lifetime, renewBefore: Seconds)? {
        if settings.lifetime.isWrong || settings.renewBefore.isWrong { return nil }
        let lifetime: Lifetime
        do throws(ValueError) {
            lifetime = try settings.lifetime.value?.lifetime(of: kind) ?? Lifetime.standard
        } catch {
            diagnostics.error(at: settings.lifetime.position ?? name.position, error.words)
            return nil
        }
        let standard = ClientConfiguration.standardRenewBefore(ofLife: lifetime.seconds)
        let renewBefore = settings.renewBefore.value ?? standard
        let position = settings.renewBefore.position ?? settings.lifetime.position ?? name.position
        guard renewBefore < lifetime.seconds else {
            diagnostics.error(
                at: own.renewBefore.position ?? own.lifetime.position ?? position,
                "renew_before \(DurationText.text(renewBefore)) is not shorter than the lifetime \(DurationText.text(lifetime.seconds)) of "
                    + "client \"\(name.value)\"; write less, such as \(DurationText.text(standard))")
            return nil
        }
        // Else the client becomes critical before every renewal.
        let shortestInterval = ClientConfiguration.shortestInterval
        if lifetime.seconds - shortestInterval < ClientConfiguration.criticalRemainder(renewBefore: renewBefore) {
            diagnostics.warning(
                at: settings.lifetime.position ?? position,
                "a lifetime of \(DurationText.text(lifetime.seconds)) is too short: renewals are at least \(shortestInterval.count)s apart, "
                    + "and by the next one the secret has nearly expired; write 2m or more")
        }
        return (lifetime, renewBefore)
    }
}
