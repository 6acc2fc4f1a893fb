import CLibsystemd

/// systemd's watchdog of this service.
package enum Watchdog {
    /// Milliseconds that may pass between two ``Notify/Message/watchdog`` messages before systemd ends the service;
    /// `nil` when the watchdog is off. Half of it is a good interval.
    package static func interval() -> Int64? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return Int64(clamping: microseconds / 1_000)
    }
}
