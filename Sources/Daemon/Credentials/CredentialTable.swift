import AppleClientSecret
import Model
import Systemd

/// Which secret the credential socket serves to which unit.
struct CredentialTable: Sendable {
    private let clients: [ServedCredential: ClientName]
    private var secrets: [ClientName: Fingerprint] = [:]

    /// The units of `configuration`, with the secrets of `old`.
    init(_ configuration: Configuration, after old: CredentialTable? = nil) {
        clients = configuration.clients.reduce(into: [:]) { clients, entry in
            if let credential = entry.value.credential { clients[credential] = entry.key }
        }
        let known = Set(clients.values)
        secrets = (old?.secrets ?? [:]).filter { known.contains($0.key) }
    }

    mutating func take(_ served: ServedSecret) {
        secrets[served.client] = served.secret?.fingerprint
    }

    /// The client for the unit itself, else for all instances of its template; nil when there is none. The fingerprint
    /// is nil until there is a secret.
    subscript(request: CredentialRequest) -> (client: ClientName, secret: Fingerprint?)? {
        for unit in [request.unit, request.template] {
            guard let unit, let client = clients[ServedCredential(unit: unit, name: request.name)] else { continue }
            return (client, secrets[client])
        }
        return nil
    }
}

extension CredentialRequest {
    /// The requested credential, by the unit's own name.
    var credential: ServedCredential {
        ServedCredential(unit: unit, name: name)
    }
}
