package import AppleClientSecret
internal import Failures

/// The daemon's state at one moment, from which status, metrics, sd_notify and the journal report.
///
/// It is also the status document: `StatusAPI/Documents/StatusDocument.swift` lists the members that are written and read.
package struct Snapshot: Hashable, Sendable {
    /// The daemon's version; the core does not know it and leaves it empty.
    package var version = ""
    package var startedAt: WallTime
    /// Whether every client was tried once and the daemon is not stopping.
    package var ready: Bool
    package var health: HealthState
    /// The worst reason of all; nil when everything is ok.
    package var reason: Reason?
    /// The same in words, in a snapshot that was read from a status document, which has no failures.
    package var readReason: ReasonReport?
    /// All problems of the daemon itself, also while a client's is ``reason``.
    package var problems: [Reason] = []
    /// The same in words, in a snapshot that was read from a status document.
    package var readProblems: [ReasonReport] = []
    package var clockTrusted: Bool
    package var configuration: ConfigurationView
    /// Of no part of the status document; nil if no client concerns a store.
    package var store: StoreView?
    /// By client, how many machines hold which secret. Only clients whose secrets this machine puts into the store. Empty
    /// before the machines' reports were read. Not part of the status document.
    package var fleet: [ClientName: FleetCounts] = [:]
    /// How far the secrets of this machine's clients are rolled out. Of no part of the status document.
    package var rollouts: [ClientName: RolloutView] = [:]
    /// The rollouts that this machine's actions wait for. Only of a single run, which reports why it leaves them undone. Of no
    /// part of the status document.
    package var awaitedRollouts: [ClientName: AwaitedRollout] = [:]
    /// In the order of their names.
    package var clients: [ClientView]

    package init(
        startedAt: WallTime, ready: Bool, health: HealthState, reason: Reason?, clockTrusted: Bool,
        configuration: ConfigurationView, clients: [ClientView]
    ) {
        self.startedAt = startedAt
        self.ready = ready
        self.health = health
        self.reason = reason
        self.clockTrusted = clockTrusted
        self.configuration = configuration
        self.clients = clients
    }
}

/// When the store was last reached, and the attempts since the daemon started.
package struct StoreView: Hashable, Sendable {
    /// Whether the last read of it has succeeded.
    package var isReachable = false
    /// When it last answered; nil before that.
    package var lastContactAt: WallTime?
    /// When the certificate expires with which it is reached; nil if there is none, or it is not known yet.
    package var certificateExpiresAt: WallTime?
    package var reads = Tally()
    package var puts = Tally()
    /// Puts that found something else than was last seen.
    package var conflicts = 0
    /// Values seen there that no configured key has signed for the client.
    package var rejected = 0

    package init() {}
}

/// Which configuration is current.
package struct ConfigurationView: Hashable, Sendable {
    package var path: String
    package var loadedAt: WallTime
    /// Why the configuration on disk would be refused; nil while it would not.
    package var error: String?

    package init(path: String, loadedAt: WallTime, error: String?) {
        self.path = path
        self.loadedAt = loadedAt
        self.error = error
    }
}
