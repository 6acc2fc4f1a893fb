package import AppleClientSecret

/// One client: its id and key, the secret's lifetime, its outputs, and the actions that run when it changes.
package struct ClientConfiguration: Hashable, Sendable {
    package var clientID: ClientID
    package var key: KeyName
    /// Further keys whose secrets are received, in the order of preference after ``key``; none if secrets are minted.
    package var otherKeys: [KeyName] = []
    package var lifetime: Lifetime
    /// How long before its expiry a minted secret is replaced; always less than the lifetime. For any secret:
    /// ``renewBefore(of:)``.
    package var renewBefore: Seconds
    package var outputs: [Output]
    /// Places behind an API, each of one client only.
    package var targets: [PushOutput]
    /// For each of ``targets``, names the document that a write replaces as a whole. Targets that share a document have the
    /// same text.
    package var documents: [TargetName: String] = [:]
    /// Those of ``targets`` whose secret acts with the next deployment of a project, which nothing here starts.
    package var undeployed: Set<TargetName> = []
    package var onChange: [Action]
    /// Whether Apple is asked before a new secret is published.
    package var verify: Bool
    package var credential: ServedCredential?
    /// The source of its secrets; nil if they are minted.
    package var source: SourceConfiguration?
    /// Whether its minted secrets are put into the store, where there is one.
    package var isShared: Bool
    /// How the machines that receive them from there deliver them; nil: each by itself.
    package var rollout: RolloutConfiguration?

    /// The keys that may sign for it, in the order of preference.
    package var keys: [KeyName] { [key] + otherKeys }

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
