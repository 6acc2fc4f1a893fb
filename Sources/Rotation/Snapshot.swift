package import AppleClientSecret

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

    package init(failure: Failure, client: ClientName?, since: WallTime, nextAttempt: WallTime?) {
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

/// Which configuration is in force.
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

/// One client in a snapshot.
package struct ClientView: Hashable, Sendable {
    package var name: ClientName
    package var clientID: ClientID
    package var team: TeamID
    package var keyID: KeyID
    package var health: HealthState
    package var reason: Reason?
    /// The same in words, in a view that was read from a status document, which has no failures.
    package var readReason: ReasonReport?
    /// The secret in force; nil before the first one.
    package var current: SecretInfo?
    /// When the secret last delivered to applications expires; nil before the first delivery.
    package var deliveredExpiresAt: WallTime?
    package var renewAt: WallTime?
    /// Secrets minted since the daemon started.
    package var renewals: Int
    package var counts: Counts
    /// When one of its outputs was last written since the daemon started.
    package var publishedAt: WallTime?
    /// When the client was last brought up to date, published and delivered, or found to be so after a start.
    package var lastSuccessAt: WallTime?
    package var consecutiveFailures: Int
    package var lastError: String?
    /// Whether every output holds the current secret and every action has succeeded for it.
    package var delivered: Bool
    package var outputs: [OutputView]
    package var actions: [ActionView]
    /// Apple's verdict on the newest secret; nil where it was not asked since the daemon started.
    package var verification: VerificationView?
    /// Where its secrets are received from; nil for a client that mints.
    package var source: SourceView?

    package init(
        name: ClientName, clientID: ClientID, team: TeamID, keyID: KeyID, health: HealthState, reason: Reason?,
        current: SecretInfo?, deliveredExpiresAt: WallTime?, renewAt: WallTime?, renewals: Int,
        counts: Counts = Counts(),
        publishedAt: WallTime? = nil, lastSuccessAt: WallTime? = nil, consecutiveFailures: Int, lastError: String?,
        delivered: Bool, outputs: [OutputView], actions: [ActionView], verification: VerificationView? = nil,
        source: SourceView? = nil
    ) {
        self.name = name
        self.clientID = clientID
        self.team = team
        self.keyID = keyID
        self.health = health
        self.reason = reason
        self.current = current
        self.deliveredExpiresAt = deliveredExpiresAt
        self.renewAt = renewAt
        self.renewals = renewals
        self.counts = counts
        self.publishedAt = publishedAt
        self.lastSuccessAt = lastSuccessAt
        self.consecutiveFailures = consecutiveFailures
        self.lastError = lastError
        self.delivered = delivered
        self.outputs = outputs
        self.actions = actions
        self.verification = verification
        self.source = source
    }
}

extension ClientView {
    /// Whether it is never delivered, because a target's secret acts with a deployment that nothing here starts.
    package var isUndeployed: Bool { outputs.contains { $0.deployed == false } }
}

/// What Apple says of a client's newest secret.
package struct VerificationView: Hashable, Sendable {
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// It was not answered yet, or refused once.
        case pending
        case accepted
        case refused
        /// Apple was not reached, or answered something else.
        case unknown
    }

    /// Of the secret that the verdict is about.
    package var fingerprint: Fingerprint
    package var verdict: Verdict
    /// When Apple was last asked; nil before the first question.
    package var askedAt: WallTime?
    /// The error code with which Apple refused it; nil when it has not.
    package var code: String?

    package init(fingerprint: Fingerprint, verdict: Verdict, askedAt: WallTime? = nil, code: String? = nil) {
        self.fingerprint = fingerprint
        self.verdict = verdict
        self.askedAt = askedAt
        self.code = code
    }
}

/// One output of a client in a snapshot.
package struct OutputView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case ok
        case pending
        case failed
        case contested
        case notResponding = "not_responding"
    }

    /// The file; nil for a place behind an API.
    package var path: AbsolutePath?
    /// Nil for a place behind an API.
    package var format: FileFormat?
    /// The place behind an API; nil for a file.
    package var target: TargetName?
    /// Whether the API showed the secret when it was last asked; nil where it does not show it, and for a file.
    package var verified: Bool?
    /// False for a target whose secret acts with a deployment that nothing here starts; nil for all others.
    package var deployed: Bool?
    package var state: State
    package var writtenAt: WallTime?
    package var error: String?
    /// How often drift was repaired since the daemon started.
    package var repairs: Int

    package init(
        path: AbsolutePath, format: FileFormat, state: State, writtenAt: WallTime?, error: String?, repairs: Int = 0
    ) {
        self.path = path
        self.format = format
        self.state = state
        self.writtenAt = writtenAt
        self.error = error
        self.repairs = repairs
    }

    package init(
        target: TargetName, verified: Bool?, state: State, writtenAt: WallTime?, error: String?, repairs: Int = 0
    ) {
        self.target = target
        self.verified = verified
        self.state = state
        self.writtenAt = writtenAt
        self.error = error
        self.repairs = repairs
    }

    /// The file's path, or `push:` and the target's name: what tells outputs apart in metrics and tables.
    package var place: String {
        path?.description ?? target.map { "push:\($0)" } ?? ""
    }
}

/// Where a client's secrets are received from, in a snapshot.
package struct SourceView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// It holds the secret in force.
        case current
        /// What it holds is genuine, but older, expired or too short-lived.
        case stale
        /// It holds something else: forged, of another client or key, issued in the future, or no secret at all.
        case wrong
        /// There is none, or it is empty.
        case missing
        /// It cannot be read.
        case unreachable
    }

    /// `path`: a file; `store`: etcd.
    package var kind: String
    /// The file's path, or the store's members.
    package var place: String
    package var state: State
    /// Since when it has been in this state.
    package var since: WallTime

    package init(kind: String = "path", place: String, state: State, since: WallTime) {
        self.kind = kind
        self.place = place
        self.state = state
        self.since = since
    }
}

/// One action of a client in a snapshot.
package struct ActionView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case ok
        case pending
        case failed
    }

    package var action: ActionID
    package var state: State
    package var ranAt: WallTime?
    package var error: String?

    package init(action: ActionID, state: State, ranAt: WallTime?, error: String?) {
        self.action = action
        self.state = state
        self.ranAt = ranAt
        self.error = error
    }
}
