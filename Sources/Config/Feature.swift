package import Rotation

/// What a configuration may ask for and this version checks but does not act on yet.
package enum Feature: Hashable, Sendable {
    case verify(ClientName)

    /// What `configuration` asks for in vain, client by client.
    package static func list(in configuration: Configuration) -> [Feature] {
        configuration.clients.filter(\.value.verify).keys.sorted().map(Feature.verify)
    }

    /// What does not happen; what to do meanwhile.
    package var message: String {
        switch self {
        case .verify(let client):
            "this version does not ask Apple yet: new secrets of \"\(client)\" are published untried"
        }
    }

    /// Which setting of the configuration it is.
    package var subject: Positions.Subject {
        switch self {
        case .verify(let client): .verify(client)
        }
    }
}
