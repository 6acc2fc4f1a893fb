package import SystemPackage

/// Why a question over the bus has no good answer.
package enum BusError: Error, Hashable, Sendable {
    /// Nobody is there, or not any more.
    case unreachable(Errno)
    /// The answer was an error of this name (`org.freedesktop.systemd1.NoSuchUnit`), with words for people.
    case refused(name: String, message: String)
    /// The connection's time was up.
    case timedOut
    case cancelled
}
