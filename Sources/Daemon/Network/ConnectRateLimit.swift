import AppleClientSecret
import Linux
import Model

/// Limits how often each service is connected to. A connection may start a process, and systemd takes no more of them, or none
/// at all, when there are too many (systemd.socket(5), `TriggerLimitBurst=`).
final class ConnectRateLimit: Sendable {
    /// One in two seconds. A target is read once an hour, Apple is asked six times a minute, and what fails is tried again
    /// after pauses that grow.
    private static let count = 30
    private static let span: Seconds = 60

    private let limits = QuietMutex<[String: RateLimit]>([:])

    /// Records a connection to the socket at `path`, if there may be one; else returns after how many seconds there may.
    func take(_ path: String) -> Seconds? {
        let now = BootTime(milliseconds: Clocks.bootMilliseconds())
        return limits.withLock { limits in
            limits[path, default: RateLimit(Self.count, in: Self.span)].take(at: now)
                .map { Seconds(roundingUp: $0.milliseconds - now.milliseconds) }
        }
    }
}
