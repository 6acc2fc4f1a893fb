import AppleClientSecret
internal import Failures
import Model

/// The faults of the daemon as a whole, such as a missing directory for its socket.
struct DaemonFaults: Sendable {
    private(set) var all: [Fault] = []

    /// Failures of settings that only the daemon uses.
    private static let ofConfiguration: Set<Failure.Code> = [
        .metricsFileUnwritable, .unknownGroup, .groupNotPermitted, .credentialSocketUnusable, .unitCannotStart,
    ]

    /// The failures of the work that the configuration gives to the daemon itself.
    var ofConfiguration: [Failure] { all.map(\.failure).filter { Self.ofConfiguration.contains($0.code) } }

    struct Fault: Hashable, Sendable {
        let failure: Failure
        let since: WallTime
        /// When the daemon tries again by itself; nil when it does not.
        var nextAttempt: BootTime?
    }

    /// Raises a fault of the daemon; returns whether it is news.
    mutating func raise(_ failure: Failure, _ nextAttempt: BootTime?, at now: Now) -> Bool {
        if let known = all.firstIndex(where: { $0.failure == failure }) {
            all[known].nextAttempt = nextAttempt
            return false
        }
        all.removeAll { $0.failure.code == failure.code }
        all.append(Fault(failure: failure, since: now.wall, nextAttempt: nextAttempt))
        return true
    }

    /// Clears the faults with a code; returns them.
    mutating func clear(_ code: Failure.Code) -> [Failure] {
        defer { all.removeAll { $0.failure.code == code } }
        return all.map(\.failure).filter { $0.code == code }
    }
}

extension Rotation {
    mutating func raiseFault(_ failure: Failure, _ nextAttempt: BootTime?, at now: Now) {
        if faults.raise(failure, nextAttempt, at: now) { events.append(.faultRaised(failure)) }
    }

    mutating func clearFault(_ code: Failure.Code) { events += faults.clear(code).map(LogEvent.faultCleared) }
}
