package import AppleClientSecret
import Model

/// What a `POST` asks for, as far as it may not be asked for again at once.
enum ControlDemand: Hashable {
    case renewal(ClientName)
    case rollout(ClientName, RolloutOrder)
    case reload
}

/// When everything was last asked for by a user other than root, so that no user keeps the rotation busy with requests. A
/// hook runs as the daemon's own user, and is limited like everybody else.
package struct ControlRateLimit {
    /// Between two requests for one thing, such as the renewal of a client or a reload, except by root: the documented 10 s.
    package static let pause: Seconds = 10

    private var limits: [ControlDemand: RateLimit] = [:]

    /// Records that all of `demands` are asked for.
    ///
    /// - Returns: nil when the request is permitted; else the demand that has to wait longest and the seconds until then, and
    ///   nothing is recorded.
    mutating func ask(
        for demands: some Collection<ControlDemand>, at now: BootTime, pause: Seconds
    ) -> (demand: ControlDemand, seconds: Int64)? {
        limits = limits.filter { $0.value.isSpent(at: now) }
        let waits = demands.compactMap { demand in limits[demand]?.next(at: now).map { (demand, $0) } }
        if let (demand, next) = waits.max(by: { $0.1 < $1.1 }) {
            return (demand, max(1, Seconds(roundingUp: next.milliseconds - now.milliseconds).count))
        }
        for demand in demands { limits[demand, default: RateLimit(1, in: pause)].note(at: now) }
        return nil
    }
}

extension ControlDemand: CustomStringConvertible {
    /// The beginning of a sentence about when it was last asked for.
    var description: String {
        switch self {
        case .renewal(let client): "client \"\(client)\" was asked for"
        case .rollout(let client, let order): "\"\(order.rawValue)\" for client \"\(client)\" was asked for"
        case .reload: "a reload was asked for"
        }
    }
}
