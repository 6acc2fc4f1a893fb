package import AppleClientSecret

/// How long the wall clock has run without being set, as far as that was seen.
///
/// The state directory keeps it. So a restarted daemon, and commands that have not seen the clock run, judge it as the daemon
/// does.
package struct ClockRun: Hashable, Sendable {
    /// A clock that has moved by more than this against the boot clock was set: clocks are slewed, and two starts of one machine are
    /// further apart.
    package static let smallestJump: Seconds = 60

    /// Since when; zero, the machine's start, where nothing else is known.
    package let since: BootTime
    /// Since when our own secret has contradicted it; nil while none does.
    package let doubtedSince: BootTime?

    package init(since: BootTime, doubtedSince: BootTime? = nil) {
        self.since = since
        self.doubtedSince = doubtedSince
    }

    /// Since the machine's start.
    package static let fromTheStart = ClockRun(since: BootTime(milliseconds: 0))
}
