import AppleClientSecret
import Failures
import Model

/// One link of the way of a secret from its key to Apple.
struct ChainLink: Equatable {
    /// In the order in which a secret passes them. Raw values are used in JSON.
    enum Name: String, CaseIterable {
        case key
        case ids
        case clock
        case secret
        case outputs
        case hidden
        case unit
        case process
        case apple
    }

    /// Raw values are used in JSON.
    enum State: String {
        case ok
        /// Something that keeps no application from the current secret now.
        case warning
        case broken
        /// It cannot be known here.
        case unknown
    }

    let name: Name
    let state: State
    /// On one line; escaped, and without a secret.
    let words: String
    /// What helps; nil where nothing is known to.
    var remedy: Remedy?

    init(_ name: Name, _ state: State, _ words: String, _ remedy: Remedy? = nil) {
        self.name = name
        self.state = state
        self.words = Printable.line(words)
        self.remedy = remedy
    }

    init(_ name: Name, broken failure: Failure) {
        self.init(name, .broken, failure.message, failure.remedy)
    }

    /// What the daemon reports.
    init(_ name: Name, broken failure: FailureReport) {
        self.init(name, .broken, failure.message, failure.remedy.map { .reported($0, command: failure.command) })
    }
}

/// The links of one client.
struct ClientChain: Equatable {
    let client: ClientName
    let links: [ChainLink]

    /// The first one that keeps the application from the current secret; nil where none is known to.
    var broken: ChainLink? { links.first { $0.state == .broken } }

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
