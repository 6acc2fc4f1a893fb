package import AppleClientSecret

/// A moment on CLOCK_BOOTTIME, which runs on during suspend and which cannot be set, in milliseconds.
package struct BootTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: BootTime, right: BootTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    package static func + (moment: BootTime, span: Seconds) -> BootTime {
        let (product, overflow) = span.count.multipliedReportingOverflow(by: 1000)
        return moment.advanced(milliseconds: overflow ? (span.count < 0 ? .min : .max) : product)
    }

    /// The moment `span` milliseconds later, clamped to the range of 64 bits.
    package func advanced(milliseconds span: Int64) -> BootTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(span)
        return BootTime(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
    }

    /// The moment `pace` later, or up to a quarter of that earlier, so that what was begun together is not repeated together.
    ///
    /// - Parameter jitter: from 0 to 1.
    package func after(_ pace: Seconds, spreadBy jitter: Double) -> BootTime {
        (self + pace).advanced(milliseconds: -Int64(Double(pace.count) * 250 * jitter))
    }

    /// The span from `earlier` to this moment in seconds, truncated to whole ones.
    package func seconds(since earlier: BootTime) -> Seconds {
        Seconds((milliseconds - earlier.milliseconds) / 1000)
    }
}

/// The current time, on the wall clock for judging secrets and on CLOCK_BOOTTIME for pacing retries.
package struct Now: Hashable, Sendable {
    package let wall: WallTime
    package let boot: BootTime
    /// Whether the kernel reports the wall clock as synchronised (adjtimex(2) without STA_UNSYNC).
    package let kernelSynced: Bool

    package init(wall: WallTime, boot: BootTime, kernelSynced: Bool) {
        self.wall = wall
        self.boot = boot
        self.kernelSynced = kernelSynced
    }
}

/// Tells whether moments have come, and remembers the earliest on each clock that has not. All code compares times with
/// now through this type, so that no wake is forgotten.
package struct Deadlines: Hashable, Sendable {
    package let now: Now
    package private(set) var wall: WallTime?
    package private(set) var boot: BootTime?

    package init(now: Now) {
        self.now = now
    }

    package mutating func reached(_ moment: WallTime) -> Bool {
        if now.wall >= moment { return true }
        wall = min(wall ?? moment, moment)
        return false
    }

    package mutating func reached(_ moment: BootTime) -> Bool {
        if now.boot >= moment { return true }
        boot = min(boot ?? moment, moment)
        return false
    }

    /// Whether a condition is met. The moments that it asks for are a reason to wake only while it is not.
    package mutating func met(_ condition: (inout Deadlines) -> Bool) -> Bool {
        var waiting = self
        if condition(&waiting) { return true }
        self = waiting
        return false
    }

    /// Answers a question by the time that it is. The moments that it asks for are no reason to wake.
    package static func peek<Answer>(at now: Now, _ question: (inout Deadlines) -> Answer) -> Answer {
        var deadlines = Deadlines(now: now)
        return question(&deadlines)
    }

    /// The earliest moments that have not come yet: when to plan again.
    package var wake: Wake { Wake(wall: wall, boot: boot) }
}

/// When to wake on each clock; nil on a clock on which nothing is due.
package struct Wake: Hashable, Sendable {
    package var wall: WallTime?
    package var boot: BootTime?

    package init(wall: WallTime? = nil, boot: BootTime? = nil) {
        self.wall = wall
        self.boot = boot
    }

    package mutating func formEarliest(with other: Wake) {
        if let moment = other.wall { wall = min(wall ?? moment, moment) }
        if let moment = other.boot { boot = min(boot ?? moment, moment) }
    }
}
