package import AppleClientSecret

/// The administrator's configuration, with every value checked and every default filled in.
package struct Configuration: Hashable, Sendable {
    package var keys: [KeyName: KeyConfiguration]
    package var clients: [ClientName: ClientConfiguration]
    package var onStateChange: [Action]
    /// The group whose members may renew and reload over the socket; nil: only root and the daemon's own user may.
    package var controlGroup: String?
    /// Nil: the first directory of `$STATE_DIRECTORY`, else ``defaultStateDirectory``.
    package var stateDirectory: AbsolutePath?
    package var metricsFile: AbsolutePath?
    /// Through which machines share secrets; nil without one.
    package var store: SecretStore?
    /// Below these it is not checked who else may write to an output's directory or read a key.
    package var trustedDirectories: [AbsolutePath]

    package static let defaultStateDirectory = "/var/lib/clientsecretd"

    package init(
        keys: [KeyName: KeyConfiguration], clients: [ClientName: ClientConfiguration], onStateChange: [Action] = [],
        controlGroup: String? = nil, stateDirectory: AbsolutePath? = nil, metricsFile: AbsolutePath? = nil,
        trustedDirectories: [AbsolutePath] = [], store: SecretStore? = nil
    ) {
        self.store = store
        self.keys = keys
        self.clients = clients
        self.onStateChange = onStateChange
        self.controlGroup = controlGroup
        self.stateDirectory = stateDirectory
        self.metricsFile = metricsFile
        self.trustedDirectories = trustedDirectories
    }
}

extension Configuration {
    /// Files that decide who gets which secret: keys, their passphrases, sources, and the programs that are run.
    package var inputs: Set<AbsolutePath> {
        var all: Set<AbsolutePath> = []
        for entry in keys.values {
            for case .file(let path)? in [entry.location, entry.passphrase] { all.insert(path) }
        }
        all.formUnion(clients.values.compactMap { $0.source?.path })
        for action in clients.values.flatMap(\.onChange) + onStateChange {
            if case .exec(let arguments, _) = action, let path = arguments.first.flatMap({ AbsolutePath($0) }) {
                all.insert(path)
            }
        }
        return all
    }
}

/// One key issued by Apple: the private key and where to read it, or only the public half.
package struct KeyConfiguration: Hashable, Sendable {
    package var team: TeamID
    package var keyID: KeyID
    package var location: Location
    /// Where to read the passphrase of an encrypted PKCS#8 file; nil for a key that is not encrypted.
    package var passphrase: Location?

    package enum Location: Hashable, Sendable {
        case file(AbsolutePath)
        /// The name of a systemd credential, a file below `$CREDENTIALS_DIRECTORY`.
        case credential(String)
        /// No private key, but its public half as a DER SubjectPublicKeyInfo: it recognises secrets and makes none.
        case publicKey([UInt8])
    }

    /// Whether it is only the public half.
    package var isPublic: Bool {
        if case .publicKey = location { true } else { false }
    }

    package init(team: TeamID, keyID: KeyID, location: Location, passphrase: Location? = nil) {
        self.team = team
        self.keyID = keyID
        self.location = location
        self.passphrase = passphrase
    }
}

/// Where a client without a private key receives its secrets from.
package struct SourceConfiguration: Hashable, Sendable {
    package var place: Place
    /// How long before its expiry a received secret should have been replaced; nil: a third of its life.
    package var renewBefore: Seconds?
    /// Over how long machines that receive the same secret spread their deliveries; 0: each delivers at once.
    package var deliverOver: Seconds = 0

    /// What ``deliverOver`` is where the configuration says nothing.
    package static let defaultDeliverOver: Seconds = 600

    package init(path: AbsolutePath, format: FileFormat, slot: Slot = .whole, renewBefore: Seconds? = nil) {
        self.init(.file(FileSource(path: path, format: format, slot: slot)), renewBefore: renewBefore)
    }

    package init(_ place: Place, renewBefore: Seconds? = nil) {
        self.place = place
        self.renewBefore = renewBefore
    }

    package enum Place: Hashable, Sendable {
        case file(FileSource)
        /// The places of the client and each of its keys in the configuration's store.
        case store
    }

    /// Whether it is the store.
    package var isStore: Bool { place == .store }

    /// The file; nil for the store.
    package var file: FileSource? {
        if case .file(let file) = place { file } else { nil }
    }

    /// The file's path; nil for the store.
    package var path: AbsolutePath? { file?.path }
}

/// A file from which secrets are received, and which another program renews.
package struct FileSource: Hashable, Sendable {
    package let path: AbsolutePath
    package let format: FileFormat
    /// Where in it the secret is.
    package let slot: Slot

    package init(path: AbsolutePath, format: FileFormat, slot: Slot) {
        self.path = path
        self.format = format
        self.slot = slot
    }
}

/// One client: its id and key, the secret's lifetime, its outputs, and the actions that run when it changes.
package struct ClientConfiguration: Hashable, Sendable {
    package var clientID: ClientID
    package var key: KeyName
    /// Further keys whose secrets are received, in the order of preference after ``key``; none where secrets are minted.
    package var otherKeys: [KeyName] = []
    package var lifetime: Lifetime
    /// How long before its expiry a minted secret is replaced; always less than the lifetime. For any secret:
    /// ``renewBefore(of:)``.
    package var renewBefore: Seconds
    package var outputs: [Output]
    /// Places behind an API, each of one client only.
    package var targets: [PushOutput]
    /// What a write to each of ``targets`` replaces as a whole, where other targets may belong into the same: the same text
    /// for each of them.
    package var documents: [TargetName: String] = [:]
    /// Those of ``targets`` whose secret acts with the next deployment of a project, which nothing here starts.
    package var undeployed: Set<TargetName> = []
    package var onChange: [Action]
    /// Whether Apple is asked before a new secret is published.
    package var verify: Bool
    package var credential: ServedCredential?
    /// Where its secrets are received from; nil where they are minted.
    package var source: SourceConfiguration?
    /// Whether its minted secrets are put into the store, where there is one.
    package var isShared: Bool
    /// How the machines that receive them from there deliver them; nil: each by itself.
    package var rollout: RolloutSettings?

    /// The keys that may sign for it, in the order of preference.
    package var keys: [KeyName] { [key] + otherKeys }

    /// 90 days: of every kind.
    package static let standardLifetime = Lifetime(seconds: 7_776_000) ?? .maximum

    package init(
        clientID: ClientID, key: KeyName, lifetime: Lifetime, renewBefore: Seconds, outputs: [Output],
        onChange: [Action] = [], verify: Bool = false, credential: ServedCredential? = nil,
        source: SourceConfiguration? = nil, otherKeys: [KeyName] = [], targets: [PushOutput] = [],
        isShared: Bool = true
    ) {
        self.isShared = isShared
        self.targets = targets
        self.source = source
        self.otherKeys = otherKeys
        self.clientID = clientID
        self.key = key
        self.lifetime = lifetime
        self.renewBefore = renewBefore
        self.outputs = outputs
        self.onChange = onChange
        self.verify = verify
        self.credential = credential
    }
}

/// One place where a client's secret is written.
package struct Output: Hashable, Sendable {
    package var path: AbsolutePath
    package var format: FileFormat
    /// Where in the file the secret is.
    package var slot: Slot
    /// The permission bits, `07777` at most; nil: those of the file that is replaced, else 0600.
    package var mode: UInt16?
    /// The group's name or number; nil: that of the file that is replaced, else what the directory gives.
    package var group: String?
    /// The user that owns and writes the file; nil: the daemon's own.
    package var owner: String?

    package init(
        path: AbsolutePath, format: FileFormat, slot: Slot = .whole, mode: UInt16? = nil, group: String? = nil,
        owner: String? = nil
    ) {
        self.path = path
        self.format = format
        self.slot = slot
        self.mode = mode
        self.group = group
        self.owner = owner
    }
}

/// A place behind an API where a client's secret is put: one of the configuration's targets, which takes one secret.
package struct PushOutput: Hashable, Sendable {
    package var target: TargetName
    /// Tells places apart: another text where the target's settings lead elsewhere. Nothing else is to be read from it.
    package var place: String

    package init(target: TargetName, place: String) {
        self.target = target
        self.place = place
    }
}

/// A secret served to a unit's `LoadCredential=` from the credential socket.
package struct ServedCredential: Hashable, Sendable {
    /// The unit's own name as systemctl shows it, escapes included, never an alias. A template such as `app@.service`
    /// means all of its instances; a credential for an instance's own name takes precedence.
    package var unit: String
    /// The name that `LoadCredential=` gives it.
    package var name: String

    package init(unit: String, name: String) {
        self.unit = unit
        self.name = name
    }
}
