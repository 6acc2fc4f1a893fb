import AppleClientSecret
import Linux
import Model

extension Now {
    /// The current time.
    static var current: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: Clocks.wallSeconds()),
            boot: BootTime(milliseconds: Clocks.bootMilliseconds()), kernelSynced: Clocks.kernelSynchronised())
    }
}
