import AppleClientSecret
import Model
import Rotation

/// The machine's clocks: the boot clock, which nobody sets, and the wall clock, which may be wrong.
struct Clocks {
    /// Milliseconds since the machine was switched on; a suspend counts.
    private(set) var boot: Int64 = 0
    /// What the wall clock shows when ``boot`` is zero.
    private var wallAtBoot: Int64 = 1_800_000_000
    /// Seconds by which the wall clock is ahead.
    private(set) var error: Int64 = 0
    var isSynced = true

    var now: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: wallAtBoot + boot / 1000), boot: BootTime(milliseconds: boot),
            kernelSynced: isSynced)
    }

    /// Sets the wall clock.
    mutating func set(by seconds: Int64) {
        wallAtBoot += seconds
        error += seconds
    }

    /// Lets time pass until a moment of the boot clock.
    mutating func pass(until moment: Int64) {
        boot = max(boot, moment)
    }

    /// When the first deadline of either clock is reached, in milliseconds of the boot clock; nil where there is none.
    func moment(of wake: Wake) -> Int64? {
        let byWall = wake.wall.map { ($0.secondsSinceEpoch - wallAtBoot) * 1000 }
        guard let byBoot = wake.boot?.milliseconds else { return byWall }
        return min(byBoot, byWall ?? byBoot)
    }
}
