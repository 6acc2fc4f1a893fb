import AppleClientSecret
import Linux

extension WallTime {
    /// What the clock shows.
    static var now: WallTime {
        WallTime(secondsSinceEpoch: Clocks.wallSeconds())
    }
}
