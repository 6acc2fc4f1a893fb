package import AppleClientSecret

/// The current time, on the wall clock for judging secrets and on CLOCK_BOOTTIME for pacing retries.
package struct Now: Hashable, Sendable {
    package let wall: WallTime
    package let boot: BootTime
    /// Whether the kernel reports the wall clock as synchronised (adjtimex(2) without STA_UNSYNC).
    package let kernelSynced: Bool

    package init(wall: WallTime, boot: BootTime, kernelSynced: Bool) {
        self.wall = wall
        self.boot = boot
        self.kernelSynced = kernelSynced
    }
}
