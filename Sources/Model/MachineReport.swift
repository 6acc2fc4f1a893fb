package import AppleClientSecret
internal import Failures

/// A machine's report of itself in the store. It contains no secret. A machine that may write to the store may have made it up.
package struct MachineReport: Hashable, Sendable {
    /// When it was written, by that machine's clock.
    package var at: WallTime
    package var clients: [ClientIdentity: Holding]
    /// Which clients there was no room for.
    package var leftOut: LeftOut

    /// The known state of the clients that a report leaves out.
    package enum LeftOut: Hashable, Sendable {
        case nothing
        /// They have delivered their secret, and hold it for longer than those in the report.
        case settled
        case any
    }

    package init(at: WallTime, clients: [ClientIdentity: Holding], leftOut: LeftOut = .nothing) {
        self.at = at
        self.clients = clients
        self.leftOut = leftOut
    }

    /// The report, completed by an earlier one of the same machine for clients that this one leaves out.
    package func completed(by earlier: MachineReport?) -> MachineReport {
        guard leftOut != .nothing, let earlier else { return self }
        var whole = self
        whole.clients.merge(
            earlier.clients.mapValues { holding in
                var holding = holding
                if leftOut == .settled { (holding.delivered, holding.failure) = (true, nil) }
                return holding
            }
        ) { own, _ in own }
        return whole
    }

    /// Whether the machine has other clients and not this one.
    package func lacks(_ client: ClientIdentity) -> Bool { leftOut == .nothing && clients[client] == nil }

    /// One client's secret and deliveries on a machine.
    package struct Holding: Hashable, Sendable {
        /// The current secret there; nil before the first one.
        package var secret: SecretName?
        /// Since when that has been current.
        package var since: WallTime
        /// Whether every output holds it and every action has succeeded for it.
        package var delivered: Bool
        /// The code of the failure there, which another version may not know; nil without one.
        package var failure: String?

        package init(secret: SecretName?, since: WallTime, delivered: Bool, failure: String?) {
            self.secret = secret
            self.since = since
            self.delivered = delivered
            self.failure = failure
        }

        /// Whether this is the current secret there.
        package func holds(_ other: SecretName) -> Bool { secret?.isSame(as: other) == true }

        /// Whether it fails to deliver its secret, as far as it reports. A failure of the store proves nothing about its
        /// applications. The code of a later version is unknown here and counts: holding a rollout is safer than continuing.
        package var failsToDeliver: Bool {
            guard !delivered, let failure else { return false }
            return FailureCode(rawValue: failure)?.traits.contains(.ofStore) != true
        }

        package func hasSameSecret(as other: Holding?) -> Bool {
            if let name = other?.secret { holds(name) } else { other != nil && secret == nil }
        }

        /// Whether this holding, rather than the other, represents the machine.
        package func isWorse(than other: Holding) -> Bool {
            (failure == nil ? 1 : 0, delivered ? 1 : 0, since.secondsSinceEpoch)
                < (other.failure == nil ? 1 : 0, other.delivered ? 1 : 0, other.since.secondsSinceEpoch)
        }
    }
}

/// The content of a machine's place in the store when it was read.
package struct ReportObservation: Hashable, Sendable {
    /// Of etcd's key.
    package let revision: Int64
    /// Nil for a value that is no report.
    package let report: MachineReport?
    /// Whether this daemon's instance has put it, or one before it with the same state directory.
    package let isOwn: Bool

    package init(revision: Int64, report: MachineReport?, isOwn: Bool = false) {
        self.revision = revision
        self.report = report
        self.isOwn = isOwn
    }
}

/// The result of putting a report.
package enum ReportPut: Hashable, Sendable {
    /// It is there, at this revision.
    case done(revision: Int64)
    /// Nothing was put: the place was changed at another revision than expected, and holds this; nil for nothing.
    case found(ReportObservation?)
}

/// How many machines' reports count, how long each counts, and how long it is kept in the store.
extension MachineReport {
    /// The most machines of one client: twice the supported number. Otherwise a user with write access to the store could make the
    /// daemon remember more and more of them.
    package static let mostMachines = 20_000

    /// A machine without a sign of life for longer is silent: more than a day, in which each machine puts its report.
    package static let silence: Seconds = 93_600

    /// After how long without a sign of life a report is removed: 14 days.
    package static let removedAfter: Seconds = 1_209_600
}

/// Tells the machines of a fleet apart in a record. A record with all their names would be too large.
package enum MachineNumber {
    /// The 32-bit FNV-1a hash of the machine's name. In one of a hundred fleets of ten thousand machines two have the same
    /// number: they count as one there.
    package static func of(_ machine: String) -> UInt32 {
        machine.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
