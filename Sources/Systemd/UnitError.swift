package import SystemPackage

/// Why systemd did not carry out an order for a unit.
package enum UnitError: Error, Hashable, Sendable {
    /// Neither the bus nor systemd answers.
    case unreachable(Errno)
    /// No polkit rule allows it to this user.
    case notPermitted
    /// Only polkit could allow it to this user, and polkit is not installed.
    case polkitMissing
    case noSuchUnit
    case masked
    /// systemd cannot use the unit's file; its LoadState.
    case broken(String)
    /// The unit takes no such order, whoever gives it; the property that says so.
    case impossible(String)
    /// Another reason, in systemd's own words.
    case refused(String)
    case job(JobResult)
    /// The unit has failed, and the order does not start it.
    case failed
    /// The unit was started, and ended by itself within seconds.
    case ended
    /// No answer within the time limit.
    case timedOut
    case cancelled

    /// An error that a method call over the bus was answered with.
    ///
    /// - Parameter message: a text for operators.
    init(answer name: String, _ message: String) {
        switch name {
        case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired":
            self = .notPermitted
        case "org.freedesktop.systemd1.NoSuchUnit": self = .noSuchUnit
        case "org.freedesktop.systemd1.UnitMasked": self = .masked
        // The bus works, but systemd is not on it, or has just gone.
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
            self = .unreachable(.socketNotConnected)
        default: self = .refused(message)
        }
    }
}

/// How an unsuccessful job ended, as systemd's signal `JobRemoved` says (org.freedesktop.systemd1(5)).
package enum JobResult: Hashable, Sendable {
    case failed
    /// The unit's own timeout, or the job's, ran out.
    case timeout
    /// Another job took its place, or a user canceled it.
    case canceled
    /// A unit that it needs failed.
    case dependency
    /// It did not fit the unit's state by then.
    case skipped
    case other(String)

    /// Nil when the job was done.
    init?(_ text: String) {
        switch text {
        case "done": return nil
        case "failed": self = .failed
        case "timeout": self = .timeout
        case "canceled": self = .canceled
        case "dependency": self = .dependency
        case "skipped": self = .skipped
        default: self = .other(text)
        }
    }
}
