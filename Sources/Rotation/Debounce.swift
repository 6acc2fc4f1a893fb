import AppleClientSecret
import Model

/// Change notices about one resource since it was last read.
struct Debounce: Hashable, Sendable {
    /// When the first of them came.
    let began: BootTime
    private(set) var last: BootTime

    /// - Parameter earlier: the notices that came before, if any did.
    init(_ earlier: Debounce?, at now: BootTime) {
        began = earlier?.began ?? now
        last = now
    }

    /// Whether to read now: no notice for `quiet`, as a program may still be writing, or notices for `longest`.
    func isDue(quiet: Seconds, atMost longest: Seconds, _ deadlines: inout Deadlines) -> Bool {
        deadlines.met { deadlines in
            // Ask for both, so that both are remembered.
            let isQuiet = deadlines.reached(last + quiet)
            return deadlines.reached(began + longest) || isQuiet
        }
    }

    /// For keys, sources and the configuration. The quiet period is short because reading them while they are being written
    /// overwrites no data; a directory that is never quiet costs at most one read a second.
    func isReadable(_ deadlines: inout Deadlines) -> Bool {
        isDue(quiet: 1, atMost: 3, &deadlines)
    }
}
