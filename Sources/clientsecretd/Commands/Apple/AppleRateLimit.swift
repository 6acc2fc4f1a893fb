import AppleClientSecret
import Glibc
import Linux
import Model

/// Limits how often a command asks Apple.
struct AppleRateLimit {
    private var limit = RateLimit.requestsToApple

    /// How many milliseconds to wait at `now` before the next request, which counts as asked then.
    mutating func pause(at now: BootTime) -> Int64 {
        let next = limit.next(at: now) ?? now
        limit.note(at: next)
        return next.milliseconds - now.milliseconds
    }

    /// Waits until a request may be sent, and reports it.
    mutating func wait() {
        let pause = pause(at: BootTime(milliseconds: Clocks.bootMilliseconds()))
        guard pause > 0 else { return }
        CommandOutput.complain(
            "waiting \(pause / 1_000 + 1) seconds: Apple gets at most \(limit.count) requests in "
                + "\(limit.span.count) seconds")
        usleep(UInt32(pause * 1_000))
    }
}
