import Model

/// Change notices about one resource since it was last read.
struct ChangeNotices: Hashable, Sendable {
    /// When the first of them came.
    let began: BootTime
    private(set) var last: BootTime

    /// - Parameter earlier: the notices that came before, if any did.
    init(_ earlier: ChangeNotices?, at now: BootTime) {
        began = earlier?.began ?? now
        last = now
    }

    /// Whether to read or write now.
    func isDue(_ period: QuietPeriod, _ timer: inout WakeTimer) -> Bool {
        timer.met { timer in
            // Evaluates both, so that both are remembered.
            let isQuiet = timer.reached(last + period.quiet)
            return timer.reached(began + period.longest) || isQuiet
        }
    }
}
