package import AppleClientSecret
package import Model

/// A request by `POST`, as far as a user other than root may not repeat it at once. So no user keeps the rotation busy with
/// requests. A hook runs as the daemon's own user, and is limited like any other user.
package enum RateLimitedRequest: Hashable, Sendable {
    case renewal(ClientName)
    case rollout(ClientName, RolloutOrder)
    case reload

    /// Between two requests for one thing, except by root: the documented 10 s.
    package static let pause: Seconds = 10
}

extension RateLimitedRequest: CustomStringConvertible {
    /// The beginning of a sentence about when it was last asked for.
    package var description: String {
        switch self {
        case .renewal(let client): "client \"\(client)\" was asked for"
        case .rollout(let client, let order): "\"\(order.rawValue)\" for client \"\(client)\" was asked for"
        case .reload: "a reload was asked for"
        }
    }
}
