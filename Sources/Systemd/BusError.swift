package import SystemPackage

/// Why a method call over the bus failed.
package enum BusError: Error, Hashable, Sendable {
    /// No process answers, or no longer.
    case unreachable(Errno)
    /// The reply was an error of this name (`org.freedesktop.systemd1.NoSuchUnit`), with a text for operators.
    case refused(name: String, message: String)
    /// The connection's time is up.
    case timedOut
    case cancelled
}
