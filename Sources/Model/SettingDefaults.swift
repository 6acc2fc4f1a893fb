package import AppleClientSecret

// The defaults of the configuration's settings. Those of a setting whose values another module has are there:
// ``Lifetime/standard`` (`lifetime`), `FormatRegistry.standard` (`format`), `StoreConfiguration.defaultPrefix` (`prefix`), and
// `PushSetting.standard` in the row of a kind of target.

extension ClientConfiguration {
    /// Of `renew_before`. How long before its expiry a secret of this lifetime should have been replaced, without a configured
    /// time: the last third of its life.
    package static func standardRenewBefore(ofLife life: Seconds) -> Seconds { max(life / 3, 0) }

    /// Of `verify`.
    package static let defaultVerify = false

    /// Of `share`.
    package static let defaultShare = true
}

extension SourceConfiguration {
    /// Of `deliver_over`.
    package static let defaultDeliverOver: Seconds = 600
}

extension RolloutConfiguration {
    /// Of the settings of `rollout`.
    package static let standard = RolloutConfiguration(canaries: 1, atOnce: 5, pause: 600)
}

extension Action {
    /// Of `timeout`: how long a program may run.
    package static let defaultTimeout: Seconds = 30
}

extension Configuration {
    /// Of `state_dir`, without `$STATE_DIRECTORY`.
    package static let defaultStateDirectory = "/var/lib/clientsecretd"
}
