package import AppleClientSecret

/// How a signer lets the machines of the fleet deliver a new secret: a few first, then the others in steps.
package struct RolloutConfiguration: Hashable, Sendable {
    /// How many machines deliver first; at least one.
    package var canaries: Int
    /// How many machines, in percent of those that report, may have been admitted and not have delivered yet; at least one
    /// machine is.
    package var atOnce: Int
    /// How long the canaries are watched after they have delivered. An admitted machine without a sign of life for this long is
    /// no longer waited for.
    package var pause: Seconds

    package init(canaries: Int, atOnce: Int, pause: Seconds) {
        self.canaries = canaries
        self.atOnce = atOnce
        self.pause = pause
    }
}
