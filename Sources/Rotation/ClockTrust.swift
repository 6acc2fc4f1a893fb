import AppleClientSecret
internal import Failures

/// Whether the wall clock is trusted. While it is not, nothing is minted: Apple refuses a secret with a wrong `iat`,
/// and one minted years ahead would pass every check here and be useless.
///
/// - A clock before the program was built is wrong.
/// - One that the kernel does not call synchronised is doubted while a secret that a key of ours has signed was issued
///   later than it shows.
struct ClockTrust: Hashable, Sendable {
    /// A clock that the kernel calls unsynchronised, and that is behind the `iat` of a secret of ours, is trusted after
    /// this long: the secret may be the one that is wrong.
    static let patience: Seconds = 600
    /// The kernel sends no notice when the clock becomes synchronised: while it is doubted, poll at this interval.
    static let observeAgain: Seconds = 10

    /// Why the clock is not trusted; nil while it is.
    private(set) var failure: Failure?
    private(set) var since: WallTime?
    /// No secret that a key of ours has signed was issued later than this.
    private var latestIssue: WallTime?
    private var doubtedAt: BootTime?
    /// The `iat` whose contradiction was waited out: the same secret raises no doubt again.
    private var forgiven: WallTime?
    /// The latest clock reading since. A secret issued between it and `forgiven` existed then and is just as wrong.
    private var reachedSince: WallTime?

    /// Notes when a secret was issued, if a key of ours has signed it.
    mutating func noteIssue(_ issued: SecretInfo?) {
        guard let issued, issued.signer != nil else { return }
        latestIssue = max(latestIssue ?? issued.issuedAt, issued.issuedAt)
    }

    /// Judges the clock.
    ///
    /// - Parameter secrets: all that are in force or were seen in files, sources or the store.
    /// - Returns: whether its being trusted, or why it is not, has changed.
    mutating func judge(
        builtAt: WallTime, _ deadlines: inout Deadlines, secrets: () -> [SecretInfo]
    ) -> Bool {
        let before = failure?.code
        // Recomputed only while it is ahead of the clock: the noted secret may be gone, but no later one can exist.
        if let noted = latestIssue, !deadlines.now.kernelSynced, noted > deadlines.now.wall {
            latestIssue = secrets().filter { $0.signer != nil && !isForgiven($0.issuedAt) }.map(\.issuedAt).max()
        }
        judge(builtAt: builtAt, latest: deadlines.now.kernelSynced ? nil : latestIssue, &deadlines)
        return before != failure?.code
    }

    /// - Parameter latest: the latest `iat` among the secrets that our keys signed.
    private mutating func judge(builtAt: WallTime, latest: WallTime?, _ deadlines: inout Deadlines) {
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
    private func isForgiven(_ moment: WallTime) -> Bool {
        guard let forgiven, let reachedSince else { return false }
        return moment == forgiven || (moment > reachedSince && moment < forgiven)
    }

    private mutating func set(_ failure: Failure?, _ now: Now) {
        since = failure == nil ? nil : since ?? now.wall
        self.failure = failure
    }

    func checkInvariants() -> [String] {
        var broken: [String] = []
        if (failure == nil) != (since == nil) { broken.append("the clock is distrusted since never") }
        if failure?.code == .clockDoubtful, doubtedAt == nil { broken.append("a doubt of the clock never ends") }
        if (forgiven == nil) != (reachedSince == nil) { broken.append("a doubt was waited out at no moment") }
        return broken
    }
}

extension Rotation {
    mutating func planClock(_ deadlines: inout Deadlines) {
        let hasChanged = clock.judge(builtAt: builtAt, &deadlines) { [renewal, destinations, sources, storeReading] in
            Array(renewal.allCurrent) + destinations.allSecrets + sources.allSecrets + storeReading.allSecrets
        }
        guard hasChanged else { return }
        events.append(clock.failure.map(LogEvent.clockDistrusted) ?? .clockTrusted)
        touchEverything()
    }
}
