import AppleClientSecret
import Model

/// Change notices about one resource since it was last read.
struct Debounce: Hashable, Sendable {
    /// When the first of them came.
    let began: BootTime
    private(set) var last: BootTime

    /// How long to wait: no notice for `quiet`, because a program may still be writing, or notices for `longest`.
    struct Pace {
        let quiet: Seconds
        let longest: Seconds

        /// Of keys, sources and the configuration. The quiet period is short because reading them while they are being written
        /// overwrites no data; a directory that is never quiet costs at most one read a second.
        static let input = Pace(quiet: 1, longest: 3)
        /// Of outputs that are read, or get a new secret.
        static let output = Pace(quiet: 2, longest: 3)
        /// Of outputs that are repaired: another program may be about to write the rest of its own content.
        static let repair = Pace(quiet: 2, longest: 10)
    }

    /// - Parameter earlier: the notices that came before, if any did.
    init(_ earlier: Debounce?, at now: BootTime) {
        began = earlier?.began ?? now
        last = now
    }

    /// Whether to read or write now.
    func isDue(_ pace: Pace, _ timer: inout WakeTimer) -> Bool {
        timer.met { timer in
            // Evaluates both, so that both are remembered.
            let isQuiet = timer.reached(last + pace.quiet)
            return timer.reached(began + pace.longest) || isQuiet
        }
    }
}
