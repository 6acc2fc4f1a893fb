import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// A machine's way to the store, and what it has learnt by it.
struct StoreLink {
    /// Why nothing is answered.
    enum FailureMode: CaseIterable {
        /// No member is reached.
        case cut
        /// Members take requests and do not answer.
        case frozen
    }

    /// What becomes of puts.
    enum Puts: CaseIterable {
        /// They are said to have failed, although some are carried out, at once or later.
        case ambiguous
        case outOfSpace
    }

    var failureMode: FailureMode?
    var puts: Puts?
    /// Whether the role of the machine's user lacks the places.
    var isForbidden = false
    /// Whether it lacks the report's place.
    var mayNotReport = false
    /// Whether watches say nothing.
    var isMute = false
    /// Where the daemon dies next.
    var doom: Boundary<Step>?

    /// When something of it was last broken, or ceased to be.
    private(set) var changedAt: Int64

    /// Whether the connection tells of changes.
    private(set) var isWatching = false
    /// Whether it tells of none before the next read, because revisions have gone back.
    var isSilent = false
    /// When a connection that told of no changes was last replaced.
    private(set) var hearsSince = Noticeboard.longAgo
    private var failures = 0
    private var pausedUntil: Int64 = 0
    private var last = Failure.Code.storeUnreachable

    /// What the last read has found; nil before the first one and after one that failed.
    private(set) var seen: [StorePlace: Noticeboard.Entry<Offer>]?
    /// The rollouts that it has found there.
    private var seenRollouts: [StorePlace: Noticeboard.RolloutEntry] = [:]
    /// When reads have first found which secrets, since the daemon's start.
    private(set) var found: [Fingerprint: Int64] = [:]
    /// Whether it has found the places forbidden.
    private(set) var sawForbidden = false
    /// When what reads found last changed.
    private(set) var seenChangedAt: Int64
    /// Since when every read has failed; nil after one that has not.
    private(set) var failingSince: Int64?
    /// Since when nothing was learnt of the places, because reads have failed or because they are forbidden; nil after a
    /// read that said what they hold.
    private(set) var blindSince: Int64?
    /// When the read began that is under way.
    var askedAt: Int64?

    static let boundaries = Boundary.all(of: Step.allCases)

    enum Step: CaseIterable {
        case read
        case put
        case rollout
        case report

        init?(_ work: Work) {
            switch work {
            case .readStore: self = .read
            case .putInStore: self = .put
            case .putRollout: self = .rollout
            case .putReport: self = .report
            default: return nil
            }
        }
    }

    init(at boot: Int64) {
        changedAt = boot
        seenChangedAt = boot
    }

    var isGood: Bool { failureMode == nil && puts == nil && !isForbidden && !mayNotReport && !isMute }

    /// Whether requests fail without being asked, because the last one has failed.
    func isPaused(at boot: Int64) -> Bool { boot < pausedUntil }

    /// Whether a watch would not tell of a change.
    var isDeaf: Bool { isMute || isSilent }

    // MARK: Requests

    /// How long a request takes, in milliseconds.
    func delay(at boot: Int64, _ random: inout SeededGenerator) -> UInt64 {
        if boot < pausedUntil { return 1 }
        return switch failureMode {
        case nil: 1 + random.next() % 100
        case .cut: 100 + random.next() % 3000
        case .frozen: 3000 + random.next() % 87_000
        }
    }

    /// Why a request fails now; nil when it does not.
    mutating func problem(at boot: Int64, _ random: inout SeededGenerator) -> Failure? {
        if boot < pausedUntil { return failure(at: boot) }
        switch failureMode {
        case nil: return nil
        case .cut: last = .storeUnreachable
        case .frozen: last = .storeTimedOut
        }
        return pause(last, at: boot, &random)
    }

    /// Leaves the store alone for up to five minutes.
    mutating func pause(_ code: Failure.Code, at boot: Int64, _ random: inout SeededGenerator) -> Failure {
        last = code
        failures = min(failures + 1, 9)
        pausedUntil = boot + Int64(random.next() % UInt64(min(1000 << failures, 300_000)))
        return failure(at: boot)
    }

    private func failure(at boot: Int64) -> Failure {
        Failure(last, at: .store, retryAfter: Seconds(max(pausedUntil - boot + 999, 0) / 1000))
    }

    // MARK: Reads

    /// Notes what a read has found. Returns whether it watches from now on.
    mutating func read(
        _ found: [StorePlace: Noticeboard.Entry<Offer>], _ rollouts: [StorePlace: Noticeboard.RolloutEntry],
        at boot: Int64
    ) -> Bool {
        failures = 0
        // After thirty seconds nothing has waited for the answer any more.
        let wasLate = askedAt.map { boot - $0 >= 29_000 } ?? false
        if seen != found || seenRollouts != rollouts || sawForbidden != isForbidden || wasLate { seenChangedAt = boot }
        seen = found
        seenRollouts = rollouts
        sawForbidden = isForbidden
        if !isForbidden {
            for case .secret(let secret) in found.values.map(\.value) where self.found[secret.fingerprint] == nil {
                self.found[secret.fingerprint] = boot
            }
        }
        failingSince = nil
        blindSince = isForbidden ? blindSince ?? boot : nil
        askedAt = nil
        if isSilent { hearsSince = boot }
        isSilent = false
        defer { isWatching = true }
        return !isWatching
    }

    /// Notes that a read has failed.
    mutating func failed(at boot: Int64) {
        if seen != nil || failingSince == nil { seenChangedAt = boot }
        seen = nil
        failingSince = failingSince ?? boot
        blindSince = blindSince ?? boot
        askedAt = nil
        isWatching = false
    }

    mutating func unwatch() { isWatching = false }

    /// Notes what was found by a put.
    mutating func see(_ entry: Noticeboard.Entry<Offer>?, at place: StorePlace, boot: Int64) {
        guard seen != nil else { return }
        seen?[place] = entry
        seenChangedAt = boot
    }

    /// Notes what was found by putting a rollout.
    mutating func see(_ rollout: Noticeboard.RolloutEntry?, at place: StorePlace, boot: Int64) {
        guard seen != nil else { return }
        seenRollouts[place] = rollout
        seenChangedAt = boot
    }

    /// Begins anew with a daemon that has just started.
    mutating func begin(at boot: Int64) {
        isWatching = false
        isSilent = false
        seen = nil
        seenRollouts = [:]
        found = [:]
        seenChangedAt = boot
        failingSince = nil
        blindSince = nil
        askedAt = nil
        failures = 0
        pausedUntil = 0
        doom = nil
    }

    // MARK: Faults

    /// Notes that something of it is broken, or is not any more.
    mutating func harm(at boot: Int64) {
        changedAt = boot
    }

    /// Ends every fault. Returns whether there was one.
    mutating func fix(at boot: Int64) -> Bool {
        guard !isGood else { return false }
        harm(at: boot)
        if isMute { hearsSince = boot }
        failureMode = nil
        puts = nil
        isForbidden = false
        mayNotReport = false
        isMute = false
        doom = nil
        return true
    }
}
