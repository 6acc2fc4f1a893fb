import AppleClientSecret
import Model

/// Changes by other programs to a file, or to a place behind an API: since when it is bad, and how often it was repaired.
struct DriftRepairs: Hashable, Sendable {
    /// Bad content may have been read once it is this old.
    static let readAfter: Seconds = 5

    /// The content of the file when it was last seen to be good.
    private var lastGood: [FileSlot: Fingerprint]?
    private var badSince: BootTime?
    /// Since when its content is wrong, and not only its mode or group.
    private var wrongSince: BootTime?
    /// Change notices since the file was last good, or written.
    private var unrest: ChangeNotices?
    /// Whether the file did not keep its content: then it is read back before it is written again.
    private var isUndone = false
    /// The secrets that its last repair put back, if it was contested already. Their actions wait.
    private var putBackInContest: Set<Fingerprint> = []
    /// When an action that makes applications read the file last succeeded.
    private var deliveredAt: BootTime?
    private var limit: RepairLimit
    /// How often drift was repaired since the daemon started.
    private(set) var repairCount = 0

    init(_ limit: RepairLimit = .standard) { self.limit = limit }

    /// Records a change notice.
    mutating func notice(at now: BootTime) { unrest = ChangeNotices(unrest, at: now) }

    /// Records the seen content of the file. It may have been there since the first notice.
    ///
    /// - Parameter hasContent: whether at most its mode or group is wrong.
    mutating func see(isGood: Bool, hasContent: Bool, wanted: [FileSlot: Fingerprint], at now: BootTime) {
        isUndone = false
        if isGood {
            lastGood = wanted
            (badSince, wrongSince) = (nil, nil)
            unrest = nil
            limit.endRequest()
        } else if lastGood == wanted {
            badSince = badSince ?? unrest?.began ?? now
            wrongSince = hasContent ? nil : wrongSince ?? unrest?.began ?? now
        }
    }

    /// Adopts the record's secret for a target as its last good content, so that other content at the first read counts as a
    /// change.
    mutating func presume(_ held: [FileSlot: Fingerprint]) {
        lastGood = lastGood ?? held
    }

    /// Counts a repair that an earlier run made.
    mutating func recallRepair(at moment: BootTime) { limit.note(at: moment) }

    /// Forgets the content of the file, because its format changes. The number of repairs stays known.
    mutating func forgetContent() {
        lastGood = nil
        (badSince, wrongSince) = (nil, nil)
    }

    /// Records that an action had applications read the file.
    mutating func delivered(at now: BootTime) {
        deliveredAt = now
    }

    /// Records that the file was written. Returns whether bad content was replaced that an application may have read.
    ///
    /// - Parameter isBeingRead: whether an action is running that makes applications read it.
    mutating func wrote(_ wanted: [FileSlot: Fingerprint], isBeingRead: Bool, at now: BootTime) -> Bool {
        let wasContested = limit.isContested(at: now)
        if countRepair(wanted, at: now) { putBackInContest = wasContested ? Set(wanted.values) : [] }
        lastGood = wanted
        limit.endRequest()
        unrest = nil
        let wrongSince = wrongSince
        (badSince, self.wrongSince) = (nil, nil)
        guard let since = wrongSince else { return false }
        // Applications that were notified while the content was bad have read it. It may have been bad a little before `since`,
        // because notices come late.
        let wasRead = isBeingRead || deliveredAt.map { $0 + QuietPeriod.output.quiet >= since } ?? false
        return wasRead || now >= since + Self.readAfter
    }

    /// Counts the write of `content` if it is a repair: the place held that before it was bad. A secret that was never there is no
    /// repair: it is written at once, and its actions wait for nothing.
    ///
    /// - Returns: whether it is a repair.
    @discardableResult
    mutating func countRepair(_ content: [FileSlot: Fingerprint], at now: BootTime) -> Bool {
        guard badSince != nil, lastGood == content else { return false }
        repairCount += 1
        limit.note(at: now)
        return true
    }

    /// Records that the file held something else right after it was written. Another program that watches it was quicker, or
    /// its file system does not keep writes. Writing again at once could repeat without end.
    mutating func undone(at now: BootTime) {
        isUndone = true
        badSince = badSince ?? now
    }

    /// Whether `wanted` differs from the content of the file when it was last good.
    func isNew(_ wanted: [FileSlot: Fingerprint]) -> Bool { lastGood != wanted }

    /// Whether another program keeps changing the file.
    func isContested(_ timer: inout WakeTimer) -> Bool { limit.isContested(&timer) }

    /// Whether a secret's actions wait until the place is no longer contested. Those that its last repair demands wait, but not
    /// those of the repair by which it became contested, nor those of a newer secret.
    func holdsActions(for secret: SecretInfo, _ timer: inout WakeTimer) -> Bool {
        putBackInContest.contains(secret.fingerprint) && isContested(&timer)
    }

    /// When a contested bad file is next repaired; nil while it is good.
    var nextRepair: BootTime? { badSince == nil ? nil : limit.next }

    /// See ``RepairLimit/request()``.
    mutating func requestRepair() { limit.request() }

    /// Whether the file may be written now. It may not while another program may be writing it. A secret that it never held
    /// waits for a shorter time.
    func mayWrite(_ wanted: [FileSlot: Fingerprint], _ timer: inout WakeTimer) -> Bool {
        guard !isUndone, !isLeftAlone(wanted, &timer) else { return false }
        return unrest?.isDue(lastGood == wanted ? .repair : .output, &timer) ?? true
    }

    /// Whether the file stays bad for now because it is contested. Only repairs wait: a secret that it never held is written at
    /// once.
    func isLeftAlone(_ wanted: [FileSlot: Fingerprint], _ timer: inout WakeTimer) -> Bool {
        badSince != nil && lastGood == wanted && limit.isPausing(&timer)
    }
}
