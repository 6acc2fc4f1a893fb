import CLinux
import SystemPackage

/// A timer on the wall clock that also wakes when somebody sets that clock.
///
/// A timer that has fired keeps watch: the next set clock is told even so. Whatever was read, the answer is the same:
/// look at the clock, decide anew, arm again.
package struct WallTimer: ~Copyable {
    private let descriptor: Descriptor

    /// What woke the loop.
    package enum Reading: Hashable, Sendable {
        case fired
        case clockWasSet
    }

    /// The descriptor to wait for.
    package var raw: Int32 { descriptor.raw }

    /// A moment that no clock reaches (the year 2242) and that every kernel takes: "no deadline, but tell of a set
    /// clock".
    private static let never: Int64 = 1 << 33

    /// Unarmed: ``arm(at:)`` also begins the watch on the clock.
    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_wall_timer_create(), "make a timer"))
    }

    /// Fires at this wall time, at once when it has passed; `nil` waits for a set clock alone.
    ///
    /// A clock that is set while this runs makes the timer fire at once, since `seconds` was reckoned by the old one.
    package func arm(at seconds: Int64?) throws(SystemError) {
        // Zero would disarm.
        let moment = min(max(seconds ?? WallTimer.never, 1), WallTimer.never)
        var result = clinux_wall_timer_arm(descriptor.raw, moment)
        while result == -Errno.canceled.rawValue {
            result = clinux_wall_timer_arm(descriptor.raw, max(Clocks.wallSeconds(), 1))
        }
        try SystemError.check(result, "arm a timer")
    }

    /// What happened since the last call; `nil` when nothing did.
    package func read() throws(SystemError) -> Reading? {
        do throws(SystemError) {
            return try readCounter(descriptor.raw, "read a timer") == nil ? nil : .fired
        } catch {
            guard error.errno == .canceled else { throw error }
            return .clockWasSet
        }
    }
}
