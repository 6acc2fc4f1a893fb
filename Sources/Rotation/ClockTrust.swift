import AppleClientSecret

/// Whether the wall clock is believed. While it is not, nothing is minted: a secret with a wrong `iat` is refused by
/// Apple, and one minted years ahead would look good here and be useless there.
struct ClockTrust: Hashable, Sendable {
    /// A clock that the kernel does not vouch for, and that contradicts a secret of ours, is believed after this long:
    /// the secret may be the one that is wrong.
    static let patience: Seconds = 600
    /// Nothing tells when the kernel's word on the clock changes, so it is asked this often while it matters.
    static let observeAgain: Seconds = 10

    var failure: Failure?
    var since: WallTime?
    private var doubtedAt: BootTime?
    /// The contradiction that was waited out: it is not doubted again for the same secret.
    private var forgiven: WallTime?
    /// Nor for an older one that this clock has still not reached: that was there then, and is as wrong.
    private var reachedSince: WallTime?

    /// - Parameter latest: the latest `iat` among the secrets that keys of ours have signed.
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
            // That it comes to be true after all is no reason to wake.
            deadlines = Deadlines(now: now)
        } else {
            _ = deadlines.reached(now.boot + Self.observeAgain)
            set(Failure(.clockDoubtful, at: .clock, detail: latest.description), now)
        }
    }

    /// Whether the contradiction of a secret issued at `moment` was waited out.
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
        // Reckoned anew only where it matters: what was noted as the latest may be gone, but nothing later can be there.
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

    /// The latest `iat` of all secrets that a key of ours has signed and that are seen or kept, but for those that were
    /// waited out.
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
