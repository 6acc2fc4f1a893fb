import AppleClientSecret
import Rotation

/// Limits of the credential socket, each with its reason.
struct CredentialLimits: Sendable {
    /// Connections at one time. A booting machine starts some dozens of units at once. Each unit asks once for each of its
    /// commands, one after the other. Further ones wait in the socket's queue.
    var connections = 128
    /// Of these, the ones that are not root's: they are refused at once, and stay only while they read that.
    var otherUsers = 8
    /// Milliseconds that a request waits for a first secret: the required 20 s, less than the 90 s that systemd gives a
    /// unit to start in.
    var timeout: Int64 = 20_000
    /// Milliseconds that another user has to read a refusal.
    var readingTime: Int64 = 10_000
    /// Milliseconds until accepting is tried again after it failed, as without a free descriptor.
    var pause: Int64 = 1_000
    /// Milliseconds that a stop spends on refusing waiting units, if they do not read it at once; the whole stop may take 5 s.
    var stopTime: Int64 = 2_000
    /// Milliseconds that a refusal at the end of a connection waits for the peer to read, whenever the socket is full. Systemd
    /// needs one.
    static let lastReadingTime: Int64 = 1_000
    /// Milliseconds after which a refusal that repeats is logged again.
    static let logInterval = LogEvent.reminder.count * 1000
    /// Refusals that the log remembers; without a limit, requests for invented names could fill the log and the memory.
    static let mostLogged = 256
}
