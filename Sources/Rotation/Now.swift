package import AppleClientSecret

/// A moment on the clock that neither a suspend stops nor anybody sets (CLOCK_BOOTTIME), in milliseconds.
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

    /// The moment `milliseconds` later, clamped to what 64 bits hold.
    package func advanced(milliseconds span: Int64) -> BootTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(span)
        return BootTime(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
    }

    /// The span from `earlier` to this moment, rounded down to whole seconds.
    package func seconds(since earlier: BootTime) -> Seconds {
        Seconds((milliseconds - earlier.milliseconds) / 1000)
    }
}

/// What time it is, on the clock by which secrets are judged and on the one by which retries are paced.
package struct Now: Hashable, Sendable {
    package let wall: WallTime
    package let boot: BootTime
    /// Whether the kernel calls the wall clock synchronised (no STA_UNSYNC of adjtimex(2)).
    package let kernelSynced: Bool

    package init(wall: WallTime, boot: BootTime, kernelSynced: Bool) {
        self.wall = wall
        self.boot = boot
        self.kernelSynced = kernelSynced
    }
}

/// Asks whether moments have come, and remembers the earliest one that has not: whoever compares a time with now does
/// it here, so that the next wake can be forgotten by nobody.
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

    /// The moments at which something has to be looked at again.
    var wake: Wake { Wake(wall: wall, boot: boot) }
}

/// When to wake by either clock; nil on a clock by which nothing is due.
package struct Wake: Hashable, Sendable {
    package var wall: WallTime?
    package var boot: BootTime?

    package init(wall: WallTime? = nil, boot: BootTime? = nil) {
        self.wall = wall
        self.boot = boot
    }

    mutating func formEarliest(with other: Wake) {
        if let moment = other.wall { wall = min(wall ?? moment, moment) }
        if let moment = other.boot { boot = min(boot ?? moment, moment) }
    }
}
