import AppleClientSecret
import Linux
import Model
import NIOHTTP1

/// An address that is served: a row of ``all``.
struct Route: Sendable {
    /// Its path, as messages show it. `NAME` is a client, and braces hold the words that may be there.
    let path: String
    let handler: Handler
    /// Whether the metrics socket serves it too.
    let isForMonitoring: Bool

    /// How it is answered. Texts are the parts of the address in the place of `NAME` and the braces.
    enum Handler: Sendable {
        /// From the last snapshot.
        case page(@Sendable (Router) -> (Snapshot, [String]) throws(Problem) -> HTTPResponse)
        /// By the rotation, to every user.
        case question(DaemonRequest)
        /// By the rotation, which changes the daemon's work: a `POST` by a user with permission.
        case order(@Sendable (Router) -> (_ body: [UInt8], Peer, [String]) throws(Problem) -> DaemonRequest)
    }

    static let all = [
        Route("/v1/status", .page(Router.status)),
        Route("/v1/clients/NAME", .page(Router.client)),
        Route("/v1/fleet", .question(.fleet(all: false))),
        Route("/v1/fleet/all", .question(.fleet(all: true))),
        Route("/v1/renew", .order(Router.renew)),
        Route("/v1/clients/NAME/renew", .order(Router.renew)),
        Route(
            "/v1/clients/NAME/rollout/{\(RolloutOrder.allCases.map(\.rawValue).joined(separator: ","))}",
            .order(Router.rollout)),
        Route("/v1/reload", .order(Router.reload)),
        Route("/healthz", .page(Router.health), isForMonitoring: true),
        Route("/readyz", .page(Router.readiness), isForMonitoring: true),
        Route("/metrics", .page(Router.metrics), isForMonitoring: true),
    ]

    private init(_ path: String, _ handler: Handler, isForMonitoring: Bool = false) {
        self.path = path
        self.handler = handler
        self.isForMonitoring = isForMonitoring
    }

    /// The address's texts for this route's `NAME` and braces; nil for another address. A query is ignored: no route has
    /// parameters.
    func texts(in address: String) -> [String]? {
        let parts = Self.parts(of: address.prefix { $0 != "?" })
        let patterns = Self.parts(of: path[...])
        guard parts.count == patterns.count else { return nil }
        var texts: [String] = []
        for (part, pattern) in zip(parts, patterns) {
            let isName = pattern == "NAME"
            guard isName || pattern.hasPrefix("{") else {
                if part == pattern { continue }
                return nil
            }
            let words = pattern.dropFirst().dropLast().split(separator: ",")
            guard isName ? !part.isEmpty : words.contains(part) else { return nil }
            texts.append(String(part))
        }
        return texts
    }

    private static func parts(of path: Substring) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// The methods that it supports.
    var methods: [HTTPMethod] {
        if case .order = handler { [.POST] } else { [.GET, .HEAD] }
    }
}
