import CLinux
import SystemPackage

/// A timer on the wall clock that also fires when that clock is set.
///
/// It reports a clock change even after it has fired. Every reading is handled alike: read the clock, decide again,
/// arm again.
package struct WallTimer: ~Copyable {
    private let descriptor: Descriptor

    /// The reason why the loop woke.
    package enum Reading: Hashable, Sendable {
        case fired
        case clockWasSet
    }

    /// The descriptor to wait for.
    package var raw: Int32 { descriptor.raw }

    /// A time that no clock reaches (the year 2242) and every kernel accepts: no deadline, but clock changes are
    /// reported.
    private static let never: Int64 = 1 << 33

    /// Unarmed: only ``arm(at:)`` begins to watch the clock.
    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_wall_timer_create(), "make a timer"))
    }

    /// Fires at this wall time, at once when it has passed; `nil`: only at a clock change.
    ///
    /// If the clock has just been set, fires at once, since `seconds` was computed from the old time.
    package func arm(at seconds: Int64?) throws(SystemError) {
        // Zero would disarm.
        let moment = min(max(seconds ?? WallTimer.never, 1), WallTimer.never)
        var result = clinux_wall_timer_arm(descriptor.raw, moment)
        while result == -Errno.canceled.rawValue {
            result = clinux_wall_timer_arm(descriptor.raw, max(Clocks.wallSeconds(), 1))
        }
        try SystemError.check(result, "arm a timer")
    }

    /// The event since the last call; `nil` if there was none.
    package func read() throws(SystemError) -> Reading? {
        do throws(SystemError) {
            return try readCounter(descriptor.raw, "read a timer") == nil ? nil : .fired
        } catch {
            guard error.errno == .canceled else { throw error }
            return .clockWasSet
        }
    }
}

/// A timer on the boot clock, which cannot be set and counts suspends: for retries, pauses and deadlines.
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
