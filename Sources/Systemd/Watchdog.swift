import CLibsystemd

/// systemd's watchdog of this service.
package enum Watchdog {
    /// How many milliseconds may pass between two ``Notify/Message/watchdog`` messages before the service is ended;
    /// `nil` when nobody watches. Half of it is a good pace.
    package static func interval() -> Int64? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return Int64(clamping: microseconds / 1_000)
    }
}
