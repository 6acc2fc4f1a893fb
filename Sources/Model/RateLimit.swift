package import AppleClientSecret

/// At most so many events within any span of time.
///
/// It remembers when the last ones were, and nothing older, so that its size is bounded. Where it is kept in a dictionary,
/// an entry without ``isSpent(at:)`` may be forgotten.
package struct RateLimit: Hashable, Sendable {
    /// How often Apple is asked about secrets, by the daemon or by one command. It publishes no limit.
    package static let requestsToApple = RateLimit(6, in: 60)

    package let count: Int
    package let span: Seconds
    /// When the last events were, ``count`` at most, the oldest first.
    private var moments: [BootTime] = []

    /// - Parameter count: one or more.
    package init(_ count: Int, in span: Seconds) {
        self.count = max(count, 1)
        self.span = span
    }

    /// When the next event may be; nil: now.
    package func next(at now: BootTime) -> BootTime? {
        guard moments.count == count, let oldest = moments.first, now < oldest + span else { return nil }
        return oldest + span
    }

    /// Whether the next event may be now. When that changes is among `deadlines`.
    package func admits(_ deadlines: inout Deadlines) -> Bool {
        next(at: deadlines.now.boot).map { deadlines.reached($0) } ?? true
    }

    /// When the last event was; nil while none counts.
    package var last: BootTime? { moments.last }

    /// Records an event, whether the limit admits it or not: one that another rule lets pass.
    package mutating func note(at now: BootTime) {
        moments = moments.suffix(count - 1) + [now]
    }

    /// Records an event, if the limit admits it; else returns when it may be, and records nothing.
    package mutating func take(at now: BootTime) -> BootTime? {
        if let next = next(at: now) { return next }
        note(at: now)
        return nil
    }

    /// Whether an event within the span counts still.
    package func isSpent(at now: BootTime) -> Bool {
        moments.last.map { now < $0 + span } ?? false
    }
}
