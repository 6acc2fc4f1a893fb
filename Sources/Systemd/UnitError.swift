package import SystemPackage

/// Why systemd did not carry out an order for a unit.
package enum UnitError: Error, Hashable, Sendable {
    /// The bus or systemd does not answer.
    case unreachable(Errno)
    /// No polkit rule allows it to this user.
    case notPermitted
    /// Only polkit could allow it to this user, and polkit is not installed.
    case polkitMissing
    /// Only polkit could allow it to this user, and polkit does not answer. The reason is the message of systemd or the bus,
    /// which could not ask it.
    case polkitFailed(String)
    case noSuchUnit
    case masked
    /// systemd cannot use the unit's file; its LoadState.
    case broken(String)
    /// The unit accepts no such order from any user; the property with the reason.
    case impossible(String)
    /// A unit that it needs is missing or masked, in systemd's own words.
    case needed(String)
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

    /// Whether systemd is there and gave no answer, which is no answer about a unit either. If there is no bus on the machine, or
    /// it is closed to this user, that stays so.
    package var isSilence: Bool {
        switch self {
        case .unreachable(.noSuchFileOrDirectory), .unreachable(.connectionRefused), .unreachable(.permissionDenied):
            false
        case .unreachable, .timedOut: true
        default: false
        }
    }

    /// The meaning of an answer from systemd or the bus to a call, if it is about the request.
    init(_ answer: BusError) {
        switch answer.name {
        // The bus works and does not hand the call on: systemd is not on it, or the bus's own policy forbids the call.
        case BusError.accessDenied where answer.isOfBus: self = .unreachable(.permissionDenied)
        case _ where answer.isOfBus: self = .unreachable(.socketNotConnected)
        case BusError.accessDenied, BusError.interactive: self = .notPermitted
        case "org.freedesktop.systemd1.NoSuchUnit": self = .noSuchUnit
        case "org.freedesktop.systemd1.UnitMasked": self = .masked
        default: self = .refused(answer.message)
        }
    }
}

/// An error that a method call over the bus was answered with.
struct BusError: Error, Hashable {
    let name: String
    /// A text for operators.
    let message: String
    /// Whether it comes from the message bus, and not from systemd.
    let isOfBus: Bool

    static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    static let interactive = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"

    /// Whether it is an error of a call that systemd itself made. The only one that it makes for an order asks polkit.
    var isOfSystemdsCall: Bool {
        guard !isOfBus else { return false }
        let ofCalls = ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected"]
        return ofCalls.contains { name == "org.freedesktop.DBus.Error." + $0 }
            || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || name.hasPrefix("org.freedesktop.PolicyKit1.")
    }

    /// Whether it may be about polkit's unit, which the bus has systemd start, as well as about the one that was named.
    var mayBeOfPolkit: Bool {
        !isOfBus
            && (name == Self.accessDenied || name == Self.interactive || name.hasPrefix("org.freedesktop.systemd1."))
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
