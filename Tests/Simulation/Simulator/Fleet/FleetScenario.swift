import AppleClientSecret
import Rotation

/// How the machines of a fleet are configured: one client, with two outputs and an action on each machine.
enum FleetScenario {
    static let client = sure(ClientName("web"))
    static let clientID = sure(ClientID("com.example.web"))
    static let outputs = [Scenario.raw("web"), Output(path: sure(AbsolutePath("/srv/web/web.json")), format: .json)]
    static let action = Action.exec(arguments: ["/bin/reload"], timeout: 30)
    static let lifetime: Int64 = 90 * Scenario.day

    /// The keys of a fleet, by number: each replaces the one before.
    static func name(_ key: Int) -> KeyName { sure(KeyName("key\(key)")) }

    static func keyID(_ key: Int) -> KeyID { sure(KeyID("KEY000000\(key)")) }

    static let team = sure(TeamID("DEF123GHIJ"))

    /// - Parameter keys: those that may sign, in the order of preference; a signer uses the first one.
    static func configuration(isSigner: Bool, keys: [Int]) -> Configuration {
        var entry = ClientConfiguration(
            clientID: clientID, key: name(keys[0]), lifetime: .maximum, renewBefore: 1, outputs: outputs,
            onChange: [action])
        var entries: [KeyName: KeyConfiguration] = [:]
        for key in isSigner ? [keys[0]] : keys {
            entries[name(key)] = KeyConfiguration(
                team: team, keyID: keyID(key),
                location: isSigner
                    ? .file(sure(AbsolutePath("/etc/clientsecretd/\(key).p8"))) : .publicKey([UInt8(key)]))
        }
        if !isSigner {
            entry.otherKeys = keys.dropFirst().map(name)
            entry.source = SourceConfiguration(path: sure(AbsolutePath("/var/in/web.jwt")), format: .raw)
            entry.source?.deliverOver = SourceConfiguration.defaultDeliverOver
        }
        var configuration = Configuration(keys: entries, clients: [client: entry])
        if isSigner { configuration.live(for: lifetime, client) }
        return configuration
    }
}
