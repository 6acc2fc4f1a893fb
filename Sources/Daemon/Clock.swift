import AppleClientSecret
import Linux
import Model

enum Clock {
    /// What time it is.
    static func now() -> Now {
        Now(
            wall: WallTime(secondsSinceEpoch: Clocks.wallSeconds()),
            boot: BootTime(milliseconds: Clocks.bootMilliseconds()), kernelSynced: Clocks.kernelSynchronised())
    }
}
