import AppleClientSecret
import Glibc
import Linux
import Model

extension RateLimit {
    /// Waits until a request to Apple may be sent, and reports it.
    mutating func waitToAskApple() {
        let now = BootTime(milliseconds: Clocks.bootMilliseconds())
        let next = next(at: now) ?? now
        note(at: next)
        let pause = next.milliseconds - now.milliseconds
        guard pause > 0 else { return }
        CommandOutput.complain(
            "waiting \(pause / 1_000 + 1) seconds: Apple gets at most \(count) requests in \(span.count) seconds")
        usleep(UInt32(pause * 1_000))
    }
}
