import AppleClientSecret

/// Notices of one thing since it was last looked at.
struct Debounce: Hashable, Sendable {
    private let first: BootTime
    private(set) var last: BootTime

    /// - Parameter earlier: the notices that came before, if any did.
    init(_ earlier: Debounce?, at now: BootTime) {
        first = earlier?.first ?? now
        last = now
    }

    var began: BootTime { first }

    /// Whether it has been quiet for long enough to look, for somebody may still be writing, or was never quiet.
    func isDue(quiet: Seconds, atMost longest: Seconds, _ deadlines: inout Deadlines) -> Bool {
        // Both are asked, so that both are remembered; but of what is due neither is a reason to wake any more.
        var waiting = deadlines
        let isQuiet = waiting.reached(last + quiet)
        if waiting.reached(first + longest) || isQuiet { return true }
        deadlines = waiting
        return false
    }

    /// Keys and the configuration: nothing of anybody's is overwritten when they are read in the middle of being
    /// written, so that it need not be quiet for long; but a directory that is never quiet costs one look a second.
    func isReadable(_ deadlines: inout Deadlines) -> Bool {
        isDue(quiet: 1, atMost: 3, &deadlines)
    }
}
