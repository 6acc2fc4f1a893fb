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
