/// The addresses that the status socket serves.
enum Route: Hashable {
    case status
    /// One client; its name as it stands in the address.
    case client(String)
    case renew
    case renewClient(String)
    case reload
    case health
    case readiness
    case metrics

    /// The route of a request's target, which may be an absolute URL; nil when there is none. A query is ignored: no
    /// route has parameters.
    init?(target: String) {
        var path = Substring(target.prefix { $0 != "?" && $0 != "#" })
        // A server has to accept `GET http://host/path` as well (RFC 9112, section 3.2.2).
        if path.hasPrefix("http://") {
            path = path.dropFirst("http://".count)
            path = path.firstIndex(of: "/").map { path[$0...] } ?? "/"
        }
        let components = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch components {
        case ["v1", "status"]: self = .status
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
            } else {
                return nil
            }
        }
    }

    /// Whether it changes what the daemon does, and so needs a `POST` by a user with permission.
    var isControl: Bool {
        switch self {
        case .renew, .renewClient, .reload: true
        case .status, .client, .health, .readiness, .metrics: false
        }
    }

    /// The methods it supports, as the `Allow` field lists them.
    var allow: String {
        isControl ? "POST" : "GET, HEAD"
    }
}
