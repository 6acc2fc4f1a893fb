package import AppleClientSecret

/// Tells whether moments have come, and remembers the earliest on each clock that has not: when to wake. A plan compares
/// times with now through this type, so that no wake is forgotten; where no wake depends on it, times are compared directly.
package struct WakeTimer: Hashable, Sendable {
    package let now: Now
    package private(set) var wall: WallTime?
    package private(set) var boot: BootTime?

    package init(now: Now) {
        self.now = now
    }

    /// Whether a moment on the wall clock has come. One that has not is a reason to wake; if the clock is set, the question is
    /// asked again.
    package mutating func reached(_ moment: WallTime) -> Bool {
        if now.wall >= moment { return true }
        wall = min(wall ?? moment, moment)
        return false
    }

    /// Whether a moment on the boot clock, which runs on during suspend and cannot be set, has come. One that has not is a
    /// reason to wake.
    package mutating func reached(_ moment: BootTime) -> Bool {
        if now.boot >= moment { return true }
        boot = min(boot ?? moment, moment)
        return false
    }

    /// Whether a condition is met. The moments that it asks for are a reason to wake only while it is not.
    package mutating func met(_ condition: (inout WakeTimer) -> Bool) -> Bool {
        var waiting = self
        if condition(&waiting) { return true }
        self = waiting
        return false
    }

    /// Answers a question by the time that it is. The moments that it asks for are no reason to wake.
    package static func peek<Answer>(at now: Now, _ question: (inout WakeTimer) -> Answer) -> Answer {
        var timer = WakeTimer(now: now)
        return question(&timer)
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
