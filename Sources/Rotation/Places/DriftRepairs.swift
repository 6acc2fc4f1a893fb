import AppleClientSecret
import Model

/// Changes by other programs to a file, or to a place behind an API: since when it is bad, and how often it was repaired.
struct DriftRepairs: Hashable, Sendable {
    /// Bad content may have been read once it is this old.
    static let readAfter: Seconds = 5
    /// After this many repairs within this time a place is contested: another program keeps changing it. The changes of a file,
    /// and of a place in the store, are noticed at once.
    static let limit = RateLimit(3, in: 3600)
    /// How often a contested file, or place in the store, is repaired.
    static let contestedInterval: Seconds = 600

    /// The interval of repairs in a contested place.
    private let contestedInterval: Seconds

    /// The content of the file when it was last seen to be good.
    private var lastGood: [FileSlot: Fingerprint]?
    private var badSince: BootTime?
    /// Since when its content is wrong, and not only its mode or group.
    private var wrongSince: BootTime?
    /// Change notices since the file was last good, or written.
    private var unrest: ChangeNotices?
    /// Whether the file did not keep its content: then it is read back before it is written again.
    private var isUndone = false
    /// Whether a request asks for the file to be written.
    private var isRequested = false
    /// Whether it was contested already when it was last repaired.
    private var wasContested = false
    /// When an action that makes applications read the file last succeeded.
    private var deliveredAt: BootTime?
    private var repairs: RateLimit
    /// How often drift was repaired since the daemon started.
    private(set) var repairCount = 0

    init(limit: RateLimit = Self.limit, contestedInterval: Seconds = Self.contestedInterval) {
        repairs = limit
        self.contestedInterval = contestedInterval
    }

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
            isRequested = false
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
    mutating func recallRepair(at moment: BootTime) { repairs.note(at: moment) }

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
        let heldItBefore = lastGood == wanted
        lastGood = wanted
        isRequested = false
        unrest = nil
        guard badSince != nil else { return false }
        let wrongSince = wrongSince
        (badSince, self.wrongSince) = (nil, nil)
        // A secret that was never there is no repair: it is written at once, and its actions wait for nothing.
        wasContested = heldItBefore && repairs.next(at: now) != nil
        if heldItBefore {
            repairCount += 1
            repairs.note(at: now)
        }
        guard let since = wrongSince else { return false }
        // Applications that were notified while the content was bad have read it. It may have been bad a little before `since`,
        // because notices come late.
        let wasRead = isBeingRead || deliveredAt.map { $0 + QuietPeriod.output.quiet >= since } ?? false
        return wasRead || now >= since + Self.readAfter
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
    func isContested(_ timer: inout WakeTimer) -> Bool {
        !repairs.admits(&timer)
    }

    /// Whether actions wait until it is no longer contested. Those that its last repair demands wait, but not those of the
    /// repair by which it became contested.
    func holdsActions(_ timer: inout WakeTimer) -> Bool { wasContested && isContested(&timer) }

    /// When a contested bad file is next repaired; nil while it is good.
    var nextRepair: BootTime? {
        badSince == nil ? nil : repairs.last.map { $0 + contestedInterval }
    }

    /// Lets a contested file be written once without waiting: the user may just have stopped the program that changed it.
    mutating func requestRepair() {
        isRequested = true
    }

    /// Whether the file may be written now. It may not while another program may be writing it. A secret that it never held
    /// waits for a shorter time.
    func mayWrite(_ wanted: [FileSlot: Fingerprint], _ timer: inout WakeTimer) -> Bool {
        guard !isUndone, !isLeftAlone(wanted, &timer) else { return false }
        return unrest?.isDue(lastGood == wanted ? .repair : .output, &timer) ?? true
    }

    /// Whether the file stays bad for now because it is contested. Only repairs wait: a secret that it never held is written at
    /// once.
    func isLeftAlone(_ wanted: [FileSlot: Fingerprint], _ timer: inout WakeTimer) -> Bool {
        guard let nextRepair, !isRequested, lastGood == wanted, isContested(&timer) else { return false }
        return !timer.reached(nextRepair)
    }
}
