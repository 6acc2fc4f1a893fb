package import AppleClientSecret

/// At most so many events within any span of time.
///
/// It remembers only the times of the last events, so that its size is bounded. A dictionary may forget an entry without
/// ``isSpent(at:)``.
package struct RateLimit: Hashable, Sendable {
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

    /// Whether the next event may be now. `timer` is set for when that changes.
    package func admits(_ timer: inout WakeTimer) -> Bool {
        next(at: timer.now.boot).map { timer.reached($0) } ?? true
    }

    /// When the last event was; nil while none counts.
    package var last: BootTime? { moments.last }

    /// Records an event, whether the limit admits it or not: one that another rule lets pass.
    package mutating func note(at now: BootTime) {
        moments = moments.suffix(count - 1) + [now]
    }

    /// Whether an event within the span counts still.
    package func isSpent(at now: BootTime) -> Bool {
        moments.last.map { now < $0 + span } ?? false
    }
}

/// A rate limit for each of many things.
package struct KeyedRateLimit<Key: Hashable & Sendable>: Sendable {
    private let limit: RateLimit
    /// Requests within the span.
    private var limits: [Key: RateLimit] = [:]

    /// - Parameter count: one or more, of each.
    package init(_ count: Int, in span: Seconds) {
        limit = RateLimit(count, in: span)
    }

    /// Records an event for each of `keys`, if the limit admits all of them. Else records nothing, and returns the key with the
    /// longest wait and that wait.
    package mutating func take(
        _ keys: some Collection<Key>, at now: BootTime
    ) -> (key: Key, wait: Seconds)? {
        limits = limits.filter { $0.value.isSpent(at: now) }
        let waits = keys.compactMap { key in limits[key]?.next(at: now).map { (key, $0) } }
        if let (key, next) = waits.max(by: { $0.1 < $1.1 }) {
            return (key, max(1, Seconds(roundingUp: next.milliseconds - now.milliseconds)))
        }
        for key in keys { limits[key, default: limit].note(at: now) }
        return nil
    }
}

extension RateLimit {
    /// How often Apple is asked about secrets, by the daemon or by one command. It publishes no limit.
    package static let requestsToApple = RateLimit(6, in: 60)
}
