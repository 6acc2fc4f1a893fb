package import AppleClientSecret

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
