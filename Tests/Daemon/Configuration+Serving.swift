import AppleClientSecret
import Model
import Testing

extension Configuration {
    /// One whose clients, by their names, have systemd pass their secrets to these units, as the credential `secret`.
    static func serving(_ units: [String: String]) throws -> Configuration {
        var clients: [ClientName: ClientConfiguration] = [:]
        for (client, unit) in units {
            clients[try #require(ClientName(client))] = ClientConfiguration(
                clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
                lifetime: try #require(Lifetime(seconds: 86_400)), renewBefore: 3600, outputs: [],
                credential: ServedCredential(unit: unit, name: "secret"))
        }
        return Configuration(keys: [:], clients: clients)
    }
}
