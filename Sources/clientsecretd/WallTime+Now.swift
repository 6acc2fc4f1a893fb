import AppleClientSecret
import Linux

extension WallTime {
    /// The current time of the wall clock.
    static var now: WallTime {
        WallTime(secondsSinceEpoch: Clocks.wallSeconds())
    }
}
