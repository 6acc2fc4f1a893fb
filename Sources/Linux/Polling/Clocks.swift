import CLinux

/// The machine's clocks.
package enum Clocks {
    /// The time of day in whole seconds since 1970.
    package static func wallSeconds() -> Int64 {
        wallMilliseconds() / 1_000
    }

    /// The time of day in milliseconds since 1970.
    package static func wallMilliseconds() -> Int64 {
        clinux_wall_milliseconds()
    }

    /// Milliseconds since boot, suspends included; this clock cannot be set.
    package static func bootMilliseconds() -> Int64 {
        clinux_boot_milliseconds()
    }

    /// Microseconds on CLOCK_MONOTONIC, the clock that systemd uses for time stamps; it stops during a suspend.
    package static func monotonicMicroseconds() -> Int64 {
        clinux_monotonic_microseconds()
    }

    /// Whether the kernel calls the wall clock synchronised; false if it may not be asked (a sandbox that forbids
    /// `adjtimex`, as systemd's `ProtectClock=` does).
    package static func kernelSynchronised() -> Bool {
        clinux_clock_synchronised() > 0
    }
}
