/// The object of a job: at most one job runs for each.
package enum Resource: Hashable, Sendable {
    case configuration
    case key(KeyName)
    /// Minting for a client.
    case client(ClientName)
    /// Whether Apple accepts a client's newest secret.
    case verification(ClientName)
    /// A client's file in the state directory.
    case record(ClientName)
    /// The source of a client's secrets.
    case source(ClientName)
    /// All places in the store that concern this machine.
    case store
    /// A client's secret in the store, to be put there.
    case share(ClientName)
    /// How far a client's current secret is rolled out, in the store.
    case rollout(ClientName)
    /// This machine's report in the store.
    case report
    /// All machines' reports in the store.
    case fleet
    case file(AbsolutePath)
    /// A place behind an API.
    case target(TargetName)
    case action(ActionID)
    /// Whether an action could run. `on_state_change` has the state in place of `%s`.
    case probe(ActionID)
    /// An action of `on_state_change`, by its name in the configuration.
    case stateChangeAction(ActionID)
    /// The content of the state directory that belongs to no client.
    case state
    /// A file with the daemon's metrics: the configured one, or a former one that is to be removed.
    case metricsFile(AbsolutePath)
}

extension Resource {
    /// The client that it belongs to; nil for one that several clients may share, or that concerns none of them.
    package var client: ClientName? {
        switch self {
        case .client(let name), .verification(let name), .record(let name), .source(let name), .share(let name),
            .rollout(let name):
            name
        default: nil
        }
    }

    package var isProbe: Bool {
        if case .probe = self { true } else { false }
    }

    /// Whether it is about the content of the store.
    package var isOfStore: Bool {
        switch self {
        case .store, .share, .rollout, .report, .fleet: true
        default: false
        }
    }

    package var isStateChangeAction: Bool {
        if case .stateChangeAction = self { true } else { false }
    }
}
