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
        /// Only of a client that receives its secrets.
        case source
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
    /// The remedy; nil if none is known.
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

    /// The daemon's report.
    init(_ name: Name, broken failure: FailureReport) {
        self.init(name, .broken, failure.message, failure.remedy.map { .reported($0, command: failure.command) })
    }
}
