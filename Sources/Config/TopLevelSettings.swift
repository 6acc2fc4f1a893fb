import AppleClientSecret
import Rotation

// The content of one file before it is checked as a whole. Every value keeps its position.

struct FileDraft {
    var keys: [KeyDraft] = []
    var clients: [ClientDraft] = []
    /// Whether it has keys or clients, counting misspelt and invalid ones.
    var mentionsKeys = false
    var mentionsClients = false
    var defaults = ClientSettings()
    var onStateChange: Setting<[Placed<Action>?]> = .absent
    var controlGroup: Setting<String> = .absent
    var stateDirectory: Setting<AbsolutePath> = .absent
    var metricsFile: Setting<AbsolutePath> = .absent
    var trustedDirectories: Setting<[Placed<AbsolutePath>?]> = .absent
}

struct KeyDraft {
    let name: Placed<KeyName>
    var team: Setting<TeamID> = .absent
    var keyID: Setting<KeyID> = .absent
    var location: Setting<KeyConfiguration.Location> = .absent
    var passphrase: Setting<KeyConfiguration.Location> = .absent
}

struct ClientDraft {
    let name: Placed<ClientName>
    var settings: ClientSettings
}

/// The settings of a client or of `defaults`.
struct ClientSettings {
    var clientID: Setting<ClientID> = .absent
    var key: Setting<KeyName> = .absent
    var lifetime: Setting<Lifetime> = .absent
    var renewBefore: Setting<Seconds> = .absent
    var outputs: Setting<[OutputDraft?]> = .absent
    var onChange: Setting<[Placed<Action>?]> = .absent
    var verify: Setting<Bool> = .absent
    var credential: Setting<ServedCredential> = .absent

    /// These settings, with absent ones taken from `defaults`. A list replaces the default's list and does not add to
    /// it.
    func completed(by defaults: ClientSettings) -> ClientSettings {
        ClientSettings(
            clientID: clientID, key: key.or(defaults.key), lifetime: lifetime.or(defaults.lifetime),
            renewBefore: renewBefore.or(defaults.renewBefore), outputs: outputs.or(defaults.outputs),
            onChange: onChange.or(defaults.onChange), verify: verify.or(defaults.verify),
            credential: credential.or(defaults.credential))
    }
}

struct OutputDraft {
    /// Where the output begins.
    let position: Position
    var path: Setting<AbsolutePath> = .absent
    var format: Setting<FileFormat> = .absent
    var slot = Slot.whole
    var mode: Setting<UInt16> = .absent
    var group: Setting<String> = .absent
    var owner: Setting<String> = .absent
}
