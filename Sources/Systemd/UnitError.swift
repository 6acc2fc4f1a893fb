package import SystemPackage

/// Why systemd did not do what was asked for a unit.
package enum UnitError: Error, Hashable, Sendable {
    /// Neither the bus nor systemd answers.
    case unreachable(Errno)
    /// No rule of polkit's lets this user do it.
    case notPermitted
    /// It is for polkit to let this user do it, and polkit is not installed.
    case polkitMissing
    case noSuchUnit
    case masked
    /// Another reason, in systemd's own words.
    case refused(String)
    case job(JobResult)
    /// It has failed, and what was asked for does not start it.
    case failed
    /// It was started, and ended by itself within seconds.
    case ended
    /// Nothing was heard for as long as was to be waited.
    case timedOut
    case cancelled

    init(_ error: BusError) {
        switch error {
        case .unreachable(let errno): self = .unreachable(errno)
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .refused(let name, let message):
            switch name {
            case "org.freedesktop.DBus.Error.AccessDenied",
                "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired":
                self = .notPermitted
            case "org.freedesktop.systemd1.NoSuchUnit": self = .noSuchUnit
            case "org.freedesktop.systemd1.UnitMasked": self = .masked
            // The bus lives, but systemd is not on it, or has just gone.
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
                self = .unreachable(.socketNotConnected)
            default: self = .refused(message)
            }
        }
    }
}

/// How a job that systemd gave up on ended, in the words of its signal `JobRemoved` (org.freedesktop.systemd1(5)).
package enum JobResult: Hashable, Sendable {
    case failed
    /// The unit's own timeout, or the job's, ran out.
    case timeout
    /// Another job took its place, or somebody canceled it.
    case canceled
    /// A unit that it needs failed.
    case dependency
    /// It did not fit what the unit was doing by then.
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
