import CLinux

/// A timer on a clock that nobody sets and that counts suspends: for retries, quiet times, deadlines.
package struct BootTimer: ~Copyable {
    private let descriptor: Descriptor

    /// The descriptor to wait for.
    package var raw: Int32 { descriptor.raw }

    /// The longest wait, in milliseconds: 100 years (292 years in nanoseconds overflow).
    private static let longest: Int64 = 100 * 366 * 86_400 * 1_000

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_boot_timer_create(), "make a timer"))
    }

    /// Fires after `milliseconds`, at once when they are not positive; `nil` disarms.
    ///
    /// Relative, not absolute, so that a library that fakes the time of day cannot delay it.
    package func arm(after milliseconds: Int64?) throws(SystemError) {
        var nanoseconds: Int64 = 0
        // Zero would disarm.
        if let milliseconds { nanoseconds = max(min(max(milliseconds, 0), BootTimer.longest) * 1_000_000, 1) }
        try SystemError.check(clinux_boot_timer_arm(descriptor.raw, nanoseconds), "arm a timer")
    }

    /// Whether it fired since the last call.
    package func read() throws(SystemError) -> Bool {
        try readCounter(descriptor.raw, "read a timer") != nil
    }
}
