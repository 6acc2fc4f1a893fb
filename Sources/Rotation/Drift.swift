import AppleClientSecret

/// What other programs do to a file: when it was stirred, since when it is bad, how often it was repaired.
struct Drift: Hashable, Sendable {
    /// A file that was touched is looked at once it has been quiet for this long: somebody may still be writing.
    static let quiet: Seconds = 2
    /// A file that is never quiet is looked at all the same.
    static let longestDebounce: Seconds = 10
    /// Bad content that stood for this long may have been read: the actions run again after the repair.
    static let wasPerhapsRead: Seconds = 5
    /// After this many repairs within ``memory`` somebody else must want the file to be otherwise.
    static let repairLimit = 3
    static let memory: Seconds = 3600
    /// How often a contested file is repaired.
    static let contestedPace: Seconds = 600

    private var debounce: Debounce?
    /// What the file held when it was last seen to be good.
    private var lastGood: [Slot: Fingerprint]?
    private var badSince: BootTime?
    /// Whether it did not stay as it was written: then it is looked at before it is written again.
    private var isUndone = false
    /// Whether somebody asked for the file to be written.
    private var isAsked = false
    /// When an action last ended by which applications are told of the file.
    private var toldAt: BootTime?
    private var repairs: [BootTime] = []
    /// How often damage was repaired since the daemon started.
    private(set) var repairCount = 0

    mutating func debounce(at now: BootTime) {
        debounce = Debounce(debounce, at: now)
    }

    /// Whether it is time to look at what a notice was about.
    func wantsObservation(_ deadlines: inout Deadlines) -> Bool {
        debounce?.isDue(quiet: Self.quiet, atMost: Self.longestDebounce, &deadlines) == true
    }

    /// Takes in what a look that began at `began` found.
    mutating func see(isGood: Bool, wanted: [Slot: Fingerprint], began: BootTime, at now: BootTime) {
        let noticed = debounce?.began
        // A notice of the same millisecond may be of a change that the look has missed.
        if let last = debounce?.last, last < began { debounce = nil }
        isUndone = false
        if isGood {
            lastGood = wanted
            badSince = nil
            isAsked = false
        } else if lastGood == wanted {
            badSince = badSince ?? noticed ?? now
        }
    }

    /// Takes in that applications were told to read the file.
    mutating func told(at now: BootTime) {
        toldAt = now
    }

    /// Takes in that the file was written. Returns whether bad content was replaced that an application may have read.
    ///
    /// - Parameter isBeingRead: whether applications are just being told to read it.
    mutating func wrote(_ wanted: [Slot: Fingerprint], isBeingRead: Bool, at now: BootTime) -> Bool {
        lastGood = wanted
        isAsked = false
        guard let since = badSince else { return false }
        badSince = nil
        repairCount += 1
        repairs = repairs.filter { now < $0 + Self.memory } + [now]
        // Whoever was told to read while it was bad has read that; the notice of it may have come a little later.
        let wasRead = isBeingRead || toldAt.map { $0 + Self.quiet >= since } ?? false
        return (wasRead || now >= since + Self.wasPerhapsRead) && repairs.count <= Self.repairLimit
    }

    /// Takes in that the file held something else right after it was written: somebody who watches it as well was quicker,
    /// or its file system does not keep what it is given. Whoever wrote again at once would do nothing else any more.
    mutating func undone(at now: BootTime) {
        isUndone = true
        badSince = badSince ?? now
        debounce(at: now)
    }

    /// Whether this is another content than the file last had from here.
    func isNew(_ wanted: [Slot: Fingerprint]) -> Bool { lastGood != wanted }

    /// Whether somebody else goes on changing the file.
    func isContested(_ deadlines: inout Deadlines) -> Bool {
        guard repairs.count >= Self.repairLimit else { return false }
        return !deadlines.reached(repairs[repairs.count - Self.repairLimit] + Self.memory)
    }

    /// When a file that is bad is repaired again if it is contested; nil while it is good.
    var nextRepair: BootTime? {
        badSince == nil ? nil : repairs.last.map { $0 + Self.contestedPace }
    }

    /// Has a contested file written once without waiting: whoever asks may just have ended what changed it.
    mutating func ask() {
        isAsked = true
    }

    /// Whether the file may be written now.
    func mayWrite(_ wanted: [Slot: Fingerprint], _ deadlines: inout Deadlines) -> Bool {
        !isUndone && !isLeftAlone(wanted, &deadlines)
    }

    /// Whether the file stays bad for now because it is contested. Only repairs wait: a secret that it never held is
    /// written at once.
    func isLeftAlone(_ wanted: [Slot: Fingerprint], _ deadlines: inout Deadlines) -> Bool {
        guard let nextRepair, !isAsked, lastGood == wanted, isContested(&deadlines) else { return false }
        return !deadlines.reached(nextRepair)
    }
}
