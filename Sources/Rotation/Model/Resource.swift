/// What a job works on: at most one job runs for each.
package enum Resource: Hashable, Sendable {
    case configuration
    case key(KeyName)
    /// Minting for a client.
    case client(ClientName)
    /// Whether Apple accepts a client's newest secret.
    case verification(ClientName)
    /// A client's file in the state directory.
    case record(ClientName)
    /// Where a client receives its secrets from.
    case source(ClientName)
    /// What the store holds of all places that concern this machine.
    case store
    /// A client's secret in the store, to be put there.
    case share(ClientName)
    /// How far the secret in force of a client is rolled out, in the store.
    case rollout(ClientName)
    /// What this machine says of itself in the store.
    case report
    /// What all machines say of themselves there.
    case fleet
    case file(AbsolutePath)
    /// A place behind an API.
    case target(TargetName)
    case action(ActionID)
    /// Whether an action could run; for `on_state_change` with the state in place of `%s`.
    case probe(ActionID)
    /// An action of `on_state_change`, by its name in the configuration.
    case stateChangeAction(ActionID)
    /// The content of the state directory that belongs to no client.
    case state
}

extension Resource {
    /// What dictionaries ask for: the hash of the name that it holds, which is known already (``HashedText``), mixed with a
    /// number for its kind.
    package func _rawHashValue(seed: Int) -> Int {
        switch self {
        case .client(let name): name._rawHashValue(seed: seed ^ 1)
        case .verification(let name): name._rawHashValue(seed: seed ^ 2)
        case .record(let name): name._rawHashValue(seed: seed ^ 3)
        case .source(let name): name._rawHashValue(seed: seed ^ 4)
        case .share(let name): name._rawHashValue(seed: seed ^ 5)
        case .rollout(let name): name._rawHashValue(seed: seed ^ 6)
        case .file(let path): path._rawHashValue(seed: seed ^ 7)
        case .key(let name): name._rawHashValue(seed: seed ^ 8)
        case .target(let name): name._rawHashValue(seed: seed ^ 9)
        case .action(let id): id._rawHashValue(seed: seed ^ 10)
        case .probe(let id): id._rawHashValue(seed: seed ^ 11)
        case .stateChangeAction(let id): id._rawHashValue(seed: seed ^ 12)
        case .configuration: 13._rawHashValue(seed: seed)
        case .store: 14._rawHashValue(seed: seed)
        case .report: 15._rawHashValue(seed: seed)
        case .fleet: 16._rawHashValue(seed: seed)
        case .state: 17._rawHashValue(seed: seed)
        }
    }

    var isProbe: Bool {
        if case .probe = self { true } else { false }
    }

    var isStateChangeAction: Bool {
        if case .stateChangeAction = self { true } else { false }
    }
}
