import AppleClientSecret
import Model
import Rotation
import TestSupport

/// How the machines of a fleet are configured: one client, with two outputs and an action on each machine.
enum FleetScenario {
    static let client = sure(ClientName("web"))
    static let clientID = sure(ClientID("com.example.web"))
    static let outputs = [Scenario.raw("web"), Output(path: sure(AbsolutePath("/srv/web/web.json")), format: .json)]
    static let action = Action.exec(arguments: ["/bin/reload"], timeout: 30)
    static let reader = Outside.Reader(client: client, action: action.id)
    static let lifetime: Int64 = 90 * Scenario.day
    /// Around a store more is to be seen of renewals.
    static let lifetimeOnStore: Int64 = 30 * Scenario.day
    static let identity = ClientIdentity(team: team, client: clientID)

    /// The keys of a fleet, by number: each replaces the one before.
    static func name(_ key: Int) -> KeyName { sure(KeyName("key\(key)")) }

    static func keyID(_ key: Int) -> KeyID { sure(KeyID("KEY000000\(key)")) }

    static let team = sure(TeamID("DEF123GHIJ"))

    /// The digest of a key.
    static func print(_ key: Int) -> KeyDigest { sure(KeyDigest(String(repeating: "0", count: 63) + "\(key)")) }

    /// Where the secrets of a key lie in the store.
    static func place(_ key: Int) -> StorePlace { StorePlace(team: team, client: clientID, key: print(key)) }

    /// - Parameters:
    ///   - keys: those that may sign, in the order of preference; a signer uses the first one.
    ///   - storeMachine: how the machine is called in the store; nil where secrets are handed on by files.
    ///   - rollout: how a signer lets machines deliver; nil where it lets them all.
    static func configuration(isSigner: Bool, keys: [Int], storeMachine: String?, rollout: RolloutConfiguration?)
        -> Configuration
    {
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
        if isSigner { entry.rollout = rollout }
        if !isSigner {
            entry.otherKeys = keys.dropFirst().map(name)
            entry.source =
                storeMachine == nil
                ? SourceConfiguration(path: sure(AbsolutePath("/var/in/web.jwt")), format: .raw)
                : SourceConfiguration(.store)
            entry.source?.deliverOver = SourceConfiguration.defaultDeliverOver
        }
        var configuration = Configuration(keys: entries, clients: [client: entry])
        if isSigner { configuration.live(for: storeMachine == nil ? lifetime : lifetimeOnStore, client) }
        configuration.store = storeMachine.map { SecretStore(place: "etcd", machine: $0) }
        return configuration
    }
}
