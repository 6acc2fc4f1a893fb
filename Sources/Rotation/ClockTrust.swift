import AppleClientSecret
internal import Failures

/// Whether the wall clock is trusted. While it is not, nothing is minted: Apple refuses a secret with a wrong `iat`,
/// and one minted years ahead would pass every check here and be useless.
struct ClockTrust: Hashable, Sendable {
    /// A clock that the kernel calls unsynchronised, and that is behind the `iat` of a secret of ours, is trusted after
    /// this long: the secret may be the one that is wrong.
    static let patience: Seconds = 600
    /// The kernel sends no notice when the clock becomes synchronised: while it is doubted, poll at this interval.
    static let observeAgain: Seconds = 10

    var failure: Failure?
    var since: WallTime?
    private var doubtedAt: BootTime?
    /// The `iat` whose contradiction was waited out: the same secret raises no doubt again.
    private var forgiven: WallTime?
    /// The latest clock reading since. A secret issued between it and `forgiven` existed then and is just as wrong.
    private var reachedSince: WallTime?

    /// - Parameter latest: the latest `iat` among the secrets that our keys signed.
    mutating func judge(builtAt: WallTime, latest: WallTime?, _ deadlines: inout Deadlines) {
        let now = deadlines.now
        if !deadlines.reached(builtAt) {
            set(Failure(.clockBeforeBuild, at: .clock, detail: now.wall.description), now)
            return
        }
        reachedSince = reachedSince.map { max($0, now.wall) }
        guard let latest, !now.kernelSynced, !isForgiven(latest), !deadlines.reached(latest) else {
            doubtedAt = nil
            set(nil, now)
            return
        }
        let began = doubtedAt ?? now.boot
        doubtedAt = began
        if deadlines.reached(began + Self.patience) {
            forgiven = latest
            reachedSince = now.wall
            doubtedAt = nil
            set(nil, now)
            // Drop the wake recorded for `latest`: reaching it no longer changes anything.
            deadlines = Deadlines(now: now)
        } else {
            _ = deadlines.reached(now.boot + Self.observeAgain)
            set(Failure(.clockDoubtful, at: .clock, detail: latest.description), now)
        }
    }

    /// Whether the contradiction by a secret issued at `moment` was waited out.
    func isForgiven(_ moment: WallTime) -> Bool {
        guard let forgiven, let reachedSince else { return false }
        return moment == forgiven || (moment > reachedSince && moment < forgiven)
    }

    private mutating func set(_ failure: Failure?, _ now: Now) {
        since = failure == nil ? nil : since ?? now.wall
        self.failure = failure
    }
}

extension Rotation {
    mutating func planClock(at now: Now) {
        var deadlines = Deadlines(now: now)
        let before = clock.failure?.code
        // Recomputed only while it is ahead of the clock: the noted secret may be gone, but no later one can exist.
        if let noted = latestIssue, !now.kernelSynced, noted > now.wall { latestIssue = reckonLatestIssue() }
        let latest = now.kernelSynced ? nil : latestIssue
        clock.judge(builtAt: builtAt, latest: latest, &deadlines)
        wakes[.configuration] = deadlines.wake
        guard before != clock.failure?.code else { return }
        changes.append(clock.failure.map(LogEvent.clockDistrusted) ?? .clockTrusted)
        touchEverything()
    }

    /// Notes when a secret was issued, if a key of ours has signed it.
    mutating func noteIssue(_ issued: SecretInfo?) {
        guard let issued, issued.signer != nil else { return }
        latestIssue = max(latestIssue ?? issued.issuedAt, issued.issuedAt)
    }

    /// The latest `iat` of the secrets in force or seen in files that our keys signed, except those that were waited
    /// out.
    private func reckonLatestIssue() -> WallTime? {
        var latest: WallTime?
        func count(_ issued: SecretInfo?) {
            guard let issued, issued.signer != nil, !clock.isForgiven(issued.issuedAt) else { return }
            latest = max(latest ?? issued.issuedAt, issued.issuedAt)
        }
        for client in world.clients.values { count(client.current) }
        for file in world.files.values {
            for observation in (file.observed?.slots ?? [:]).values { count(observation.issued) }
        }
        return latest
    }
}
