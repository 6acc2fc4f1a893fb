import AppleClientSecret
import Failures
import Model

/// The links of one client.
struct ClientChain: Equatable {
    let client: ClientName
    let links: [ChainLink]

    /// The chain of one client: each link quotes a judgement that another command makes; only the process link has its own
    /// (`ProcessLink.swift`).
    init(_ facts: ChainFacts) {
        client = facts.name
        links = [
            facts.keyLink, facts.idsLink, facts.clockLink, facts.sourceLink, facts.secretLink, facts.outputsLink,
            facts.hiddenLink, facts.unitLink, facts.processLink, facts.appleLink,
        ].compactMap(\.self)
    }

    /// The first one that keeps the application from the current secret; nil if none is known to.
    var broken: ChainLink? { links.first { $0.state == .broken } }

    /// Those of which nothing is known here.
    var unknown: [ChainLink.Name] { links.filter { $0.state == .unknown }.map(\.name) }

    var json: JSONText {
        .object([
            ("client", .string(client.description)),
            ("broken", .text(broken?.name.rawValue)),
            ("remedy", .text(broken?.remedy?.description)),
            ("command", .text(broken?.remedy?.command)),
            (
                "links",
                .array(
                    links.map { link in
                        .object([
                            ("link", .string(link.name.rawValue)), ("state", .string(link.state.rawValue)),
                            ("detail", .string(link.words)),
                        ])
                    })
            ),
        ])
    }
}
