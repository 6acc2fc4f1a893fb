/// What the credential socket allows itself, each with its reason.
struct CredentialLimits: Sendable {
    /// Connections at one time: a machine that boots starts some dozens of units at once, each of which asks once for
    /// each of its commands, one after the other. Further ones wait in the socket's queue.
    var connections = 128
    /// Of these, the ones that are not root's: they are refused at once, and stay only for as long as they read slowly.
    var strangers = 8
    /// Milliseconds that an answer waits for a first secret: the contract's 20 s, less than the 90 s that systemd gives a
    /// unit to start in.
    var patience: Int64 = 20_000
    /// Milliseconds in which an answer has to be read: systemd needs one.
    var readingTime: Int64 = 10_000
    /// Milliseconds until a socket is accepted from again for which there was no descriptor.
    var pause: Int64 = 1_000
    /// Milliseconds in which those who wait are refused when the daemon stops, which may take 5 s in all.
    var farewell: Int64 = 500
}
