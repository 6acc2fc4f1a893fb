import AppleClientSecret

/// The state of a client or of the daemon, ordered from good to bad.
package enum HealthState: String, Hashable, Sendable, Comparable, CaseIterable {
    case ok
    case degraded
    case critical

    package static func < (left: HealthState, right: HealthState) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .ok: 0
        case .degraded: 1
        case .critical: 2
        }
    }
}

extension HealthState: JSONString {}

/// How near to expiry the weakest secret is that an output or an application of a client holds.
package enum ExpiryStage: String, Hashable, Sendable, Comparable, CaseIterable {
    case fresh
    /// Nearer to its expiry than `renew_before`: it should have been replaced by now.
    case warning
    /// Nearer than a third of `renew_before`, where the client's state becomes critical.
    case critical
    case expired

    package static func < (left: ExpiryStage, right: ExpiryStage) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .fresh: 0
        case .warning: 1
        case .critical: 2
        case .expired: 3
        }
    }
}

extension ExpiryStage: JSONString {}
