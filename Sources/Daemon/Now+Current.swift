import AppleClientSecret
import Linux
package import Model
import Rotation

extension Now {
    /// The current time.
    static var current: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: Clocks.wallSeconds()),
            boot: BootTime(milliseconds: Clocks.bootMilliseconds()), kernelSynced: Clocks.kernelSynchronised())
    }
}

extension Failure {
    /// Why a secret that is minted now would be useless; nil if nothing is known against the clock.
    package static var ofMintingNow: Failure? { ofClock(builtAt: Version.builtAt, at: .current) }
}
