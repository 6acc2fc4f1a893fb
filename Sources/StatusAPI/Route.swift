import Model

/// The addresses that the status socket serves.
enum Route: Hashable {
    case status
    /// One client; its name as it is in the address.
    case client(String)
    /// What other machines report: of those that are not up to date, or of all.
    case fleet(all: Bool)
    case renew
    case renewClient(String)
    /// Has the rollout of a client's secret do something.
    case rollout(String, RolloutOrder)
    case reload
    case health
    case readiness
    case metrics

    /// The route of a path; nil when there is none. A query is ignored: no route has parameters.
    init?(path: String) {
        let path = path.prefix { $0 != "?" }
        let components = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch components {
        case ["v1", "status"]: self = .status
        case ["v1", "fleet"]: self = .fleet(all: false)
        case ["v1", "fleet", "all"]: self = .fleet(all: true)
        case ["v1", "renew"]: self = .renew
        case ["v1", "reload"]: self = .reload
        case ["healthz"]: self = .health
        case ["readyz"]: self = .readiness
        case ["metrics"]: self = .metrics
        default:
            guard components.count >= 3, components[0] == "v1", components[1] == "clients", !components[2].isEmpty
            else {
                return nil
            }
            if components.count == 3 {
                self = .client(components[2])
            } else if components.count == 4, components[3] == "renew" {
                self = .renewClient(components[2])
            } else if components.count == 5, components[3] == "rollout",
                let order = RolloutOrder(rawValue: components[4])
            {
                self = .rollout(components[2], order)
            } else {
                return nil
            }
        }
    }

    /// Whether it changes what the daemon does, and so needs a `POST` by a user with permission.
    var isControl: Bool {
        switch self {
        case .renew, .renewClient, .rollout, .reload: true
        case .status, .client, .fleet, .health, .readiness, .metrics: false
        }
    }

    /// The methods it supports, as the `Allow` field lists them.
    var allow: String {
        isControl ? "POST" : "GET, HEAD"
    }
}
