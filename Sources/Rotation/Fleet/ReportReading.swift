import AppleClientSecret
import Model

/// When the machines' reports were read, and how far rollouts may go by them.
struct ReportReading: Sendable {
    /// When they were last read; nil after a read that failed.
    private var readAt: BootTime?
    /// Since when they cannot be read; nil while they can be.
    private var unreadableSince: BootTime?
    /// Since when they have been read without a gap of more than ``gap``.
    private var readableSince: BootTime?
    /// The job that has last read them successfully.
    private var readBy = JobID.beforeAll

    private static let interval: Seconds = 300
    /// While a secret is rolled out: half of the minute over which machines spread their reports.
    private static let rolloutInterval: Seconds = 30
    /// A shorter one is no reason to give machines time to report.
    private static let gap: Seconds = 120
    /// How old the reports may be for a rollout to go on by them: four reads during one, else three.
    private static let (ageOfRollout, age): (Seconds, Seconds) = (120, 900)
    /// Within this time every running machine has reported. It finds a store that is back after five minutes at most, and
    /// spreads its reports over one.
    private static let returning: Seconds = 900
    /// How long read reports are shown to users before they are read again.
    private static let freshness: Seconds = 30

    /// Whether the last read succeeded.
    var isKnown: Bool { readAt != nil }

    /// Whether they were ever read.
    var hasSucceeded: Bool { readBy != .beforeAll }

    func isDue(_ timer: inout WakeTimer, _ jitter: Double, isRollingOut: Bool) -> Bool {
        guard let readAt else { return true }
        let interval = isRollingOut ? Self.rolloutInterval : Self.interval
        return timer.reached(readAt.after(interval, spreadBy: jitter))
    }

    func wasRead(since job: JobID) -> Bool { readBy >= job }

    /// Whether they were read just now.
    func isFresh(at now: Now) -> Bool { readAt.map { now.boot < $0 + Self.freshness } ?? false }

    /// The machines whose reports a rollout goes on by; nil if these were not read lately.
    func members(
        _ machines: @autoclosure () -> [FleetMembers.Member], isRollingOut: Bool, _ timer: inout WakeTimer
    ) -> FleetMembers? {
        guard let readAt, let readableSince, timer.now.boot < readAt + (isRollingOut ? Self.ageOfRollout : Self.age)
        else { return nil }
        return FleetMembers(
            all: machines(), readableSince: readableSince,
            haveHadTime: timer.reached(readableSince + Self.returning))
    }

    mutating func succeed(by job: JobID, at now: Now) {
        readBy = job
        readAt = now.boot
        let wasUnreadable = unreadableSince.map { now.boot > $0 + Self.gap } ?? false
        if readableSince == nil || wasUnreadable { readableSince = now.boot }
        unreadableSince = nil
    }

    /// They are read again at once. The last ones may be outdated: no rollout goes on by them.
    mutating func invalidate() { readAt = nil }

    mutating func noteUnreadable(at now: Now) { unreadableSince = unreadableSince ?? now.boot }
}
