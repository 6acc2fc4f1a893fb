package import AppleClientSecret
internal import Failures
package import Model

/// Whether the wall clock is trusted. With a distrusted clock, nothing is minted. Apple refuses a secret with a wrong `iat`,
/// and one minted years ahead would pass every check here and be useless.
///
/// - A clock before the program was built is wrong.
/// - A clock that the kernel does not call synchronised is doubted in two cases. A secret signed by one of our keys was issued
///   later than the clock shows, or the clock shows a time ``longestUse`` after the program was built.
/// - Such a clock is unconfirmed until the kernel calls it synchronised, or it has run for ``doubtLimit`` without being set.
///   Until then it may be ahead, so no secret that may still be valid is replaced because of its times. A secret minted
///   meanwhile proves nothing against a time that is set later. Setting the clock confirms nothing: the user may have mistyped
///   the date.
struct ClockTrust: Hashable, Sendable {
    /// A clock that the kernel calls unsynchronised, and that is behind the `iat` of our own secret, is trusted after
    /// this long: the secret may be the one that is wrong.
    static let doubtLimit: Seconds = 600
    /// 15 years. Systemd also treats a clock beyond that as wrong (clock-valid-range-usec-max).
    static let longestUse = Seconds(15 * 366 * 86_400)
    /// The kernel sends no notice when the clock becomes synchronised: while it is doubted, poll at this interval.
    static let pollInterval: Seconds = 10

    /// The reason for the distrust, and its start; nil while the clock is trusted.
    private(set) var reason: Reason?
    /// No secret that one of our keys signed was issued later than this.
    private var latestIssue: WallTime?
    private var doubtedAt: BootTime?
    private var waitedOut: WaitedOut?
    /// Since when it has run without being set, as far as is known; nil until it is first judged.
    private var runsSince: BootTime?
    /// The time that it was last set to, as far as was seen: at first, the one that it showed when it was first judged. A failure
    /// names it, and is copied at different moments: with the present time, `health` would take the copies for two reasons.
    private(set) var setTo: WallTime?
    /// Whether the clock was confirmed since it was last set.
    private var isConfirmed = false
    /// When it was last judged.
    private var lastJudged: Now?
    /// When the latest secret was issued that was minted by an unconfirmed clock.
    private var mintedUnconfirmed: WallTime?

    /// A contradiction that was waited out. The same secret raises no doubt again. Neither does one that was issued before it
    /// and after ``reached``, because it existed then.
    private struct WaitedOut: Hashable {
        let issuedAt: WallTime
        /// The latest time that the clock has shown since.
        var reached: WallTime

        func contains(_ moment: WallTime) -> Bool { moment == issuedAt || moment > reached && moment < issuedAt }
    }

    /// Why the clock is not trusted; nil while it is.
    var failure: Failure? { reason?.failure }

    /// Records when a secret was issued, if one of our keys signed it.
    mutating func noteIssue(_ issued: SecretInfo?) {
        guard let issued, issued.signer != nil else { return }
        latestIssue = max(latestIssue ?? issued.issuedAt, issued.issuedAt)
    }

    /// Records that a secret was minted.
    mutating func noteMint(_ minted: SecretInfo) {
        noteIssue(minted)
        guard !isConfirmed else { return }
        mintedUnconfirmed = max(mintedUnconfirmed ?? minted.issuedAt, minted.issuedAt)
    }

    /// Whether the clock may be ahead, because it was not confirmed since it was last set. `timer` is set for its end.
    func mayBeAhead(_ timer: inout WakeTimer) -> Bool {
        guard !isConfirmed, let runsSince, !timer.reached(runsSince + Self.doubtLimit) else { return false }
        // At moments that do not depend on when this is called.
        let passed = timer.now.boot.seconds(since: runsSince).count / Self.pollInterval.count
        _ = timer.reached(runsSince + Seconds((passed + 1) * Self.pollInterval.count))
        return true
    }

    /// Whether the clock can judge the age of something from elsewhere: it is trusted, and cannot be ahead.
    func tellsAge(at now: Now) -> Bool { failure == nil && !WakeTimer.peek(at: now) { mayBeAhead(&$0) } }

    /// A younger secret is replaced when it is due even by an unconfirmed clock. Otherwise a machine with secrets that live for
    /// hours would have none for up to ten minutes.
    private static let youngest: Seconds = 86_400

    /// Whether our secret that seems to be due is kept because the clock may be ahead. A secret that had expired when the
    /// program was built certainly has.
    func spares(
        _ secret: SecretInfo, due soonest: WallTime, builtAt: WallTime, _ timer: inout WakeTimer
    ) -> Bool {
        guard secret.signer != nil, secret.expiresAt > builtAt, timer.reached(soonest) else { return false }
        if failure?.code == .clockPerhapsAhead { return true }
        return timer.reached(secret.issuedAt + Self.youngest) && mayBeAhead(&timer)
    }

    /// Why the clock cannot tell whether a secret is still good; nil if it can tell.
    ///
    /// - Parameters:
    ///   - isSpared: whether the clock spares it.
    ///   - shown: the time on the clock.
    func doubt(isSpared: Bool, at shown: WallTime) -> Failure? {
        failure ?? (isSpared ? Failure(.clockPerhapsAhead, at: .clock, detail: shown.description) : nil)
    }

    /// The clock as a command finds it. A command has not seen it run and cannot wait.
    ///
    /// - Parameters:
    ///   - secrets: all that are known.
    ///   - run: the observations of a daemon.
    init(judging secrets: [SecretInfo], run: ClockRun, builtAt: WallTime, at now: Now) {
        self.init(run)
        for secret in secrets { noteIssue(secret) }
        var timer = WakeTimer(now: now)
        _ = judge(builtAt: builtAt, isOnce: true, isStarting: true, &timer) { secrets }
    }

    /// - Parameter run: the observations of an earlier run of the program; nil if they are not known.
    init(_ run: ClockRun? = nil) {
        runsSince = run?.since
        doubtedAt = run?.doubtedSince
    }

    /// The observations for the next run of the program and for commands; nil until the clock is first judged.
    var run: ClockRun? { runsSince.map { ClockRun(since: $0, doubtedSince: doubtedAt) } }

    /// Whether a moment is so late that this program is certainly no longer in use.
    private static func isImpossible(_ moment: WallTime, builtAt: WallTime) -> Bool {
        moment >= builtAt + longestUse
    }

    /// Records whether the clock is confirmed.
    ///
    /// - Parameter isOnce: for `run --once`, which cannot wait: then an unknown clock counts from the machine's start.
    private mutating func observe(isOnce: Bool, _ now: Now) {
        let began = runsSince ?? (isOnce ? ClockRun.fromTheStart.since : now.boot)
        runsSince = began
        setTo = setTo ?? now.wall
        defer { lastJudged = now }
        if now.boot >= began + Self.doubtLimit { confirm() }
        if let last = lastJudged {
            let moved = now.wall - last.wall - now.boot.seconds(since: last.boot)
            // The administrator who sets it back knows better than the clock that minted these.
            if moved < 0, let minted = mintedUnconfirmed, minted > now.wall {
                waitedOut = WaitedOut(issuedAt: max(waitedOut?.issuedAt ?? minted, minted), reached: now.wall)
            }
            if abs(moved.count) > ClockRun.smallestJump.count {
                (runsSince, setTo, isConfirmed) = (now.boot, now.wall, false)
            }
        }
        if now.kernelSynced { confirm() }
    }

    private mutating func confirm() {
        isConfirmed = true
        mintedUnconfirmed = nil
    }

    /// Judges the clock.
    ///
    /// - Parameters:
    ///   - isOnce: whether the daemon ends as soon as everything is up to date, and so cannot wait.
    ///   - isStarting: whether the secrets may have been there since the clock was last set.
    ///   - secrets: all that are current or were seen in files, sources or the store.
    /// - Returns: whether the verdict or its reason has changed.
    mutating func judge(
        builtAt: WallTime, isOnce: Bool, isStarting: Bool, _ timer: inout WakeTimer, secrets: () -> [SecretInfo]
    ) -> Bool {
        let before = failure
        observe(isOnce: isOnce, timer.now)
        // Recomputed only while it is ahead of the clock: the noted secret may be gone, but no later one can exist.
        if let noted = latestIssue, !timer.now.kernelSynced, noted > timer.now.wall {
            latestIssue = secrets().filter { $0.signer != nil }.map(\.issuedAt)
                .filter { waitedOut?.contains($0) != true && !Self.isImpossible($0, builtAt: builtAt) }.max()
        }
        let found = findFault(
            builtAt: builtAt, from: isStarting ? runsSince : nil,
            latest: timer.now.kernelSynced ? nil : latestIssue, &timer)
        reason = found.map { Reason(failure: $0, since: reason?.since ?? timer.now.wall) }
        return before != failure
    }

    /// Why the clock is not to be trusted; nil if it is.
    ///
    /// - Parameters:
    ///   - from: the start of a doubt that is raised now; nil: now.
    ///   - latest: the latest `iat` among the secrets that our keys signed.
    private mutating func findFault(
        builtAt: WallTime, from: BootTime?, latest: WallTime?, _ timer: inout WakeTimer
    ) -> Failure? {
        let now = timer.now
        let shown = setTo ?? now.wall
        if !timer.reached(builtAt) { return Failure(.clockBeforeBuild, at: .clock, detail: shown.description) }
        if let reached = waitedOut?.reached { waitedOut?.reached = max(reached, now.wall) }
        if !now.kernelSynced, Self.isImpossible(now.wall, builtAt: builtAt) {
            _ = timer.reached(now.boot + Self.pollInterval)
            doubtedAt = nil
            return Failure(.clockPerhapsAhead, at: .clock, detail: shown.description)
        }
        guard let latest, !now.kernelSynced, waitedOut?.contains(latest) != true, !timer.reached(latest) else {
            // At the start, the secret for which an earlier run doubted it was perhaps not read yet.
            if from == nil { doubtedAt = nil }
            return nil
        }
        let began = doubtedAt ?? from ?? now.boot
        doubtedAt = began
        guard timer.reached(began + Self.doubtLimit) else {
            _ = timer.reached(now.boot + Self.pollInterval)
            return Failure(.clockDoubtful, at: .clock, detail: latest.description)
        }
        waitedOut = WaitedOut(issuedAt: latest, reached: now.wall)
        doubtedAt = nil
        // Drop the wake recorded for `latest`: reaching it no longer changes anything.
        timer = WakeTimer(now: now)
        return nil
    }
}

extension Rotation {
    /// Why nothing is minted by the clock; nil while it is trusted.
    package var clockFailure: Failure? { clock.failure }

    /// The observations of the clock for the next run of the program and for commands; nil until it is first judged.
    package var clockRun: ClockRun? { clock.run }

    /// Whether a client's secret is kept although it is due, because the clock may be ahead.
    package func isSpared(_ name: ClientName, at now: Now) -> Bool {
        index[name].map { client in WakeTimer.peek(at: now) { spared(client, &$0) } != nil } ?? false
    }

    mutating func planClock(_ timer: inout WakeTimer) {
        let before = clock.failure?.code
        var clock = clock
        let hasChanged = clock.judge(
            builtAt: builtAt, isOnce: isOnce, isStarting: isOnce || !isReady, &timer
        ) { secretsSeen }
        self.clock = clock
        guard hasChanged else { return }
        // Another time in the same failure is no news, but every client's reason names it.
        if clock.failure?.code != before { events.append(clock.failure.map(LogEvent.clockDistrusted) ?? .clockTrusted) }
        touchEverything()
    }

    /// The current secret that is due by its times but stays, because the clock may be ahead and the secret may still be valid;
    /// nil if there is none.
    ///
    /// Only a secret in the state directory: when the program is first used, existing secrets are judged by any clock.
    func spared(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> SecretInfo? {
        guard let current = clients[client].secret.current, clients[client].record.value.current == current,
            rank(of: current, client) != nil
        else { return nil }
        let soonest = client.entry.firstReplacement(of: current, jitter: renewalJitter)
        return clock.spares(current, due: soonest, builtAt: builtAt, &timer) ? current : nil
    }
}

extension ClientConfiguration {
    /// From when on a secret is replaced because of its times. A received one, which its signer renews, is replaced once it has
    /// expired.
    ///
    /// - Parameter jitter: as in ``renewal(of:jitter:)``.
    func firstReplacement(of secret: SecretInfo, jitter: Double) -> WallTime {
        source == nil ? earliestRenewal(of: secret, jitter: jitter) : secret.expiresAt
    }
}

extension Failure {
    /// Why a secret that is minted by this clock would be useless; nil if nothing is known against the clock.
    ///
    /// - Parameter builtAt: when this program was built.
    package static func ofClock(builtAt: WallTime, at now: Now) -> Failure? {
        ClockTrust(judging: [], run: .fromTheStart, builtAt: builtAt, at: now).failure
    }

    /// Why the clock cannot tell whether Apple accepts this secret; nil if it can.
    ///
    /// - Parameters:
    ///   - run: the observations of the clock by a daemon.
    ///   - builtAt: when this program was built.
    package static func ofClock(
        judging secret: SecretInfo, run: ClockRun, builtAt: WallTime, at now: Now
    ) -> Failure? {
        let clock = ClockTrust(judging: [secret], run: run, builtAt: builtAt, at: now)
        let isSpared = WakeTimer.peek(at: now) {
            clock.spares(secret, due: secret.expiresAt, builtAt: builtAt, &$0)
        }
        return clock.doubt(isSpared: isSpared, at: now.wall)
    }
}
