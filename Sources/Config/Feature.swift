package import Rotation

/// A setting that this version checks but does not act on yet.
package enum Feature: Hashable, Sendable {
    case verify(ClientName)

    /// Those that `configuration` uses, by client name.
    package static func list(in configuration: Configuration) -> [Feature] {
        configuration.clients.filter(\.value.verify).keys.sorted().map(Feature.verify)
    }

    /// What does not happen, and the consequence.
    package var message: String {
        switch self {
        case .verify(let client):
            "this version does not ask Apple yet: new secrets of \"\(client)\" are published untried"
        }
    }

    /// The setting, for its position.
    package var subject: Positions.Subject {
        switch self {
        case .verify(let client): .verify(client)
        }
    }
}
