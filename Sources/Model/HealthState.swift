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
