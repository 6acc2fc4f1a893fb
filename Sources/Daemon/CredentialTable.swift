import AppleClientSecret
import Rotation
import Systemd

/// Which secret is for which unit: what the credential socket knows.
struct CredentialTable: Sendable {
    private let clients: [ServedCredential: ClientName]
    private var secrets: [ClientName: Fingerprint] = [:]

    /// The same secrets for what `configuration` says from now on.
    init(_ configuration: Configuration, after old: CredentialTable? = nil) {
        clients = configuration.clients.reduce(into: [:]) { clients, entry in
            if let credential = entry.value.credential { clients[credential] = entry.key }
        }
        let known = Set(clients.values)
        secrets = (old?.secrets ?? [:]).filter { known.contains($0.key) }
    }

    mutating func take(_ served: Served) {
        secrets[served.client] = served.secret?.fingerprint
    }

    /// Whose secret is for the unit itself, else for all instances of its template; nil when none is. The fingerprint
    /// is nil while the first one is being made.
    subscript(request: CredentialRequest) -> (client: ClientName, secret: Fingerprint?)? {
        for unit in [request.unit, request.template] {
            guard let unit, let client = clients[ServedCredential(unit: unit, name: request.name)] else { continue }
            return (client, secrets[client])
        }
        return nil
    }
}

extension CredentialRequest {
    /// What is asked for, by the unit's own name.
    var credential: ServedCredential {
        ServedCredential(unit: unit, name: name)
    }
}
