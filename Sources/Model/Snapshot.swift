package import AppleClientSecret
internal import Failures

/// The state of a client or of the daemon, ordered from good to bad.
package enum HealthState: String, Hashable, Sendable, Comparable, CaseIterable {
    case ok
    case degraded
    case critical

    package static func < (left: HealthState, right: HealthState) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .ok: 0
        case .degraded: 1
        case .critical: 2
        }
    }
}

/// Why a state is not ok: what failed, for which client, since when, and when it is tried again.
package struct Reason: Hashable, Sendable {
    package var failure: Failure
    /// The client that it affects; nil when it concerns the daemon as a whole.
    package var client: ClientName?
    package var since: WallTime
    /// When the daemon tries it again; nil when it does not.
    package var nextAttempt: WallTime?

    package init(failure: Failure, client: ClientName? = nil, since: WallTime, nextAttempt: WallTime? = nil) {
        self.failure = failure
        self.client = client
        self.since = since
        self.nextAttempt = nextAttempt
    }
}

/// A reason in words, as a status document has it. Stored indirectly, so that the views of the daemon itself, whose
/// reasons are failures, stay small.
package indirect enum ReasonReport: Hashable, Sendable {
    /// The whole reason on one line, and its parts; no parts from a daemon that sends none.
    case report(sentence: String, failure: FailureReport?)

    package var sentence: String {
        switch self {
        case .report(let sentence, _): sentence
        }
    }

    package var failure: FailureReport? {
        switch self {
        case .report(_, let failure): failure
        }
    }
}

/// A failure in words.
package struct FailureReport: Hashable, Sendable {
    /// A name that never changes, such as `directory_missing`.
    package var code: String
    /// What happened, and to what.
    package var message: String
    package var since: WallTime
    package var nextAttempt: WallTime?
    /// The remedy, with the command at its end; nil when none is known.
    package var remedy: String?
    /// The remedy's command, for POSIX's sh; nil where the operator has to decide something first.
    package var command: String?

    package init(
        code: String, message: String, since: WallTime, nextAttempt: WallTime?, remedy: String?, command: String?
    ) {
        self.code = code
        self.message = message
        self.since = since
        self.nextAttempt = nextAttempt
        self.remedy = remedy
        self.command = command
    }
}

/// The daemon's state at one moment, from which status, metrics, sd_notify and the journal report.
///
/// It is also the status document: `StatusAPI/StatusDocument.swift` lists the members that are written and read.
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
    package var clockTrusted: Bool
    package var configuration: ConfigurationView
    /// Of no part of the status document; nil where no client concerns a store.
    package var store: StoreView?
    /// How many machines hold what, for each client whose secrets this machine puts into the store; empty before the
    /// machines' reports were read. Of no part of the status document.
    package var fleet: [ClientName: FleetCounts] = [:]
    /// How far the secrets of this machine's clients are rolled out. Of no part of the status document.
    package var rollouts: [ClientName: RolloutView] = [:]
    /// In the order of their names.
    package var clients: ClientViews

    package init(
        startedAt: WallTime, ready: Bool, health: HealthState, reason: Reason?, clockTrusted: Bool,
        configuration: ConfigurationView, clients: ClientViews
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

/// How the store was last reached, and what was tried since the daemon started.
package struct StoreView: Hashable, Sendable {
    /// Whether the last read of it has succeeded.
    package var isReachable = false
    /// When it last answered; nil before that.
    package var lastContactAt: WallTime?
    /// When the certificate expires with which it is reached; nil where there is none, or it is not known yet.
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
