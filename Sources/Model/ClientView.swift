package import AppleClientSecret
package import Failures

/// One client in a snapshot.
package struct ClientView: Hashable, Sendable {
    package var name: ClientName
    package var clientID: ClientID
    /// Those of the current secret; before the first one, those of the key that will sign it.
    package var team: TeamID
    package var keyID: KeyID
    package var health: HealthState
    package var reason: Reason?
    /// The same in words, in a view that was read from a status document, which has no failures.
    package var readReason: ReasonReport?
    /// The current secret; nil before the first one.
    package var current: SecretInfo?
    /// When the secret last delivered to applications expires; nil before the first delivery.
    package var deliveredExpiresAt: WallTime?
    package var renewAt: WallTime?
    /// Secrets minted since the daemon started.
    package var renewals: Int
    package var counts: ClientCounts
    /// When the client was last brought up to date, published and delivered, or found to be so after a start.
    package var lastSuccessAt: WallTime?
    package var consecutiveFailures: Int
    package var lastError: String?
    /// Whether every output holds the current secret and every action has succeeded for it.
    package var delivered: Bool
    package var outputs: [OutputView]
    package var actions: [ActionView]
    /// Apple's verdict on the newest secret; nil if it was not asked since the daemon started.
    package var verification: VerificationView?
    /// The source of its secrets; nil for a client that mints.
    package var source: SourceView?

    package init(
        name: ClientName, clientID: ClientID, team: TeamID, keyID: KeyID, health: HealthState, reason: Reason?,
        current: SecretInfo?, deliveredExpiresAt: WallTime?, renewAt: WallTime?, renewals: Int,
        counts: ClientCounts = ClientCounts(),
        lastSuccessAt: WallTime? = nil, consecutiveFailures: Int, lastError: String?,
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
    /// When one of its outputs was last written since the daemon started.
    package var publishedAt: WallTime? { outputs.compactMap(\.writtenAt).max() }

    /// Whether nothing is wrong but that a new secret is still on its way.
    package var isUnderWay: Bool {
        health == .degraded && [.notChecked, .notPublished, .notDelivered].contains(reason?.failure.code)
    }

    /// Whether nothing is left but that running actions end: none has failed, and none waits.
    package var isDelivering: Bool { reason?.failure.code == .notDelivered && lastError == nil && !isDeliveredLater }

    /// Whether an action waits for something that is meant to take its time. Until it has run, applications go on with an earlier
    /// secret.
    package var isDeliveredLater: Bool { actions.contains { $0.waitsFor != nil } }

    /// Whether it is never delivered, because a target's secret acts with a deployment that nothing here starts.
    package var isUndeployed: Bool { outputs.contains { $0.deployed == false } }
}

/// Apple's verdict on a client's newest secret.
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
    /// When Apple was last asked; nil before the first request.
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
    /// Whether the API showed the secret when it was last asked; nil if it does not show it, and for a file.
    package var verified: Bool?
    /// False for a target whose secret acts with a deployment that nothing here starts; nil for all others.
    package var deployed: Bool?
    package var state: State
    package var writtenAt: WallTime?
    package var error: String?
    /// The failure that `error` is about; nil if nothing failed, and in a view that was read from a status document.
    package var failure: Failure?
    /// Its remedy, in a view that was read from a status document.
    package var readRemedy: Remedy?
    /// How often drift was repaired since the daemon started.
    package var repairs: Int

    /// - Parameters:
    ///   - path, format: of a file; nil for a place behind an API.
    ///   - target, verified: of a place behind an API; nil for a file.
    package init(
        path: AbsolutePath? = nil, format: FileFormat? = nil, target: TargetName? = nil, verified: Bool? = nil,
        state: State, writtenAt: WallTime?, error: String?, repairs: Int = 0
    ) {
        self.path = path
        self.format = format
        self.target = target
        self.verified = verified
        self.state = state
        self.writtenAt = writtenAt
        self.error = error
        self.repairs = repairs
    }

    /// The file's path, or `push:` and the target's name: tells outputs apart in metrics and tables.
    package var place: String {
        path?.description ?? target.map { "push:\($0)" } ?? ""
    }
}

/// The source of a client's secrets, in a snapshot.
package struct SourceView: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// It holds the current secret.
        case current
        /// Its secret is genuine, but older, expired or too short-lived.
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

    /// The expected delay that an action waits for. Running it sooner would be a mistake.
    package enum Wait: String, Hashable, Sendable, CaseIterable {
        /// This machine's turn within `deliver_over`.
        case turn
        /// That the rollout of the secret admits this machine.
        case rollout
        /// The deployment does not run yet.
        case deployment

        /// What it waits for, as the end of a sentence about the action.
        package var words: String {
            switch self {
            case .turn: "it waits for this machine's turn (deliver_over)"
            case .rollout: "it waits until the rollout of the secret admits this machine"
            case .deployment: "what was deployed does not run yet"
            }
        }
    }

    package var action: ActionID
    package var state: State
    package var ranAt: WallTime?
    package var error: String?
    /// As for an output.
    package var failure: Failure?
    package var readRemedy: Remedy?
    /// Nil for one that waits for nothing of that kind.
    package var waitsFor: Wait?

    package init(action: ActionID, state: State, ranAt: WallTime?, error: String?, waitsFor: Wait? = nil) {
        self.action = action
        self.state = state
        self.ranAt = ranAt
        self.error = error
        self.waitsFor = waitsFor
    }
}
